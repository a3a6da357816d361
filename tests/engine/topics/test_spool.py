"""A spool: appended by anyone, whole or not at all, read back as it was."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from headway.engine.topics.port import Slice
from headway.engine.topics.spool import Spool
from headway.engine.topics.spooled import OpenSpool
from headway.errors import SchemaMismatch, TopicError
from headway.flow.columns.schema import Schema

SCHEMA = Schema.parse("word string, n bigint")


def read_all(folder: Path) -> list[dict[str, object]]:
    topic = OpenSpool(folder, SCHEMA)
    rows = []
    for partition, stop in topic.reach(0).items():
        for records in topic.read(Slice(partition, topic.begin()[partition], stop)):
            rows += records.batch.to_pylist()
    return rows


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", "word string, n bigint")
    assert spool.append([{"word": "a", "n": 1}, {"word": "b", "n": 2}]) == 2
    assert Spool(tmp_path / "s").append([{"word": "c", "n": 3}]) == 1
    assert [row["n"] for row in read_all(tmp_path / "s")] == [1, 2, 3]


def test_a_slice_may_begin_and_end_inside_a_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", "word string, n bigint")
    for start in (0, 4, 8):
        spool.append([{"word": "w", "n": n} for n in range(start, start + 4)])
    found = list(OpenSpool(tmp_path / "s", SCHEMA).read(Slice("0", 3, 9)))
    assert [n for r in found for n in r.batch.column("n").to_pylist()] == [3, 4, 5, 6, 7, 8]
    assert np.concatenate([r.offsets for r in found]).tolist() == [3, 4, 5, 6, 7, 8]


def test_a_tag_is_appended_once(tmp_path: Path) -> None:
    for _ in range(3):
        Spool(tmp_path / "s", "word string, n bigint").append([{"word": "a", "n": 1}], tag="run-7")
    assert len(read_all(tmp_path / "s")) == 1


def test_a_tag_that_no_file_name_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="a tag is made of"):
        Spool(tmp_path / "s", "word string, n bigint").append([{"word": "a", "n": 1}], tag="a b")


def test_a_batch_is_cut_in_the_order_of_writing_not_in_equal_shares(tmp_path: Path) -> None:
    # p0  0        1        2      one record each
    # p1    0..9      10..19       ten records each, in between
    spool = Spool(tmp_path / "s", "word string, n bigint", partitions=2)
    for turn in range(3):
        spool.append([{"word": "quiet", "n": turn}], partition=0)
        if turn < 2:
            spool.append([{"word": "busy", "n": n} for n in range(10)], partition=1)
    topic = OpenSpool(tmp_path / "s", SCHEMA)
    start, reach = topic.begin(), topic.reach(0)
    assert topic.cut(start, reach, 5) == {"0": 1, "1": 4}
    assert topic.cut(start, reach, 14) == {"0": 2, "1": 12}
    assert topic.cut({"0": 1, "1": 4}, reach, 7) == {"0": 2, "1": 10}
    assert topic.cut(start, reach, None) == {"0": 3, "1": 20}


def append_many(folder: Path, name: str) -> None:
    spool = Spool(folder)
    for n in range(20):
        spool.append([{"word": name, "n": n}])


def test_processes_append_at_once_without_loss(tmp_path: Path) -> None:
    Spool(tmp_path / "s", "word string, n bigint", partitions=2)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(tmp_path / "s", f"w{k}")) for k in (0, 1)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    rows = read_all(tmp_path / "s")
    assert sorted((r["word"], r["n"]) for r in rows) == [
        (f"w{k}", n) for k in (0, 1) for n in range(20)
    ]


def test_what_a_crash_left_half_written_is_no_record(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", "word string, n bigint")
    spool.append([{"word": "a", "n": 1}])
    (tmp_path / "s" / "p0" / ".tmp-1-half").write_bytes(b"half")
    spool.append([{"word": "b", "n": 2}])
    assert [row["n"] for row in read_all(tmp_path / "s")] == [1, 2]
    assert not list((tmp_path / "s" / "p0").glob(".tmp-*"))


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    Spool(tmp_path / "s", "word string, n bigint").append([{"word": "a", "n": 1}])
    file = next((tmp_path / "s" / "p0").glob("*.arrow"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(TopicError, match=f"{file.name}.*corrupt.*checksum"):
        read_all(tmp_path / "s")


def test_records_that_are_gone_are_missed(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", "word string, n bigint")
    for n in range(3):
        spool.append([{"word": "a", "n": n}])
    sorted((tmp_path / "s" / "p0").glob("*.arrow"))[1].unlink()
    with pytest.raises(TopicError, match=r"records 1 to 2 .* are gone"):
        list(OpenSpool(tmp_path / "s", SCHEMA).read(Slice("0", 0, 3)))


def test_records_that_do_not_fit_are_refused_with_both_schemas(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", "word string, n bigint")
    with pytest.raises(SchemaMismatch, match="word string, n bigint"):
        spool.append([{"word": "a", "n": "many"}])
    with pytest.raises(SchemaMismatch, match="the flow wants: x int"):
        Spool(tmp_path / "s", "x int")
    assert read_all(tmp_path / "s") == []


def test_a_spool_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="give a schema"):
        Spool(tmp_path / "none")
    with pytest.raises(TopicError, match=r"headway\.Spool"):
        OpenSpool(tmp_path / "none", SCHEMA)

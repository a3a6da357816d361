"""Replayed topics: open-loop arrivals, any range at once, bad records in their place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import headway as hw
from headway.engine.topics.blocks import BLOCK_RECORDS
from headway.engine.topics.opening import check_source, open_topic
from headway.engine.topics.port import OpenTopic, Slice
from headway.errors import SchemaMismatch, TopicError
from headway.flow.steps import Source
from headway.flow.stream import Stream

T0_US = 1_000_000_000


def opened(stream: Stream, folder: Path) -> OpenTopic:
    source = stream.steps[0]
    assert isinstance(source, Source)
    return open_topic(source, folder, T0_US)


def rows(topic: OpenTopic, first: int, stop: int) -> list[tuple[int, int, dict[str, object]]]:
    return [
        (int(offset), int(arrival), row)
        for records in topic.read(Slice("0", first, stop))
        for offset, arrival, row in zip(
            records.offsets, records.arrivals_us, records.batch.to_pylist(), strict=True
        )
    ]


def test_a_record_arrives_when_it_is_due_however_late_it_is_read(tmp_path: Path) -> None:
    topic = opened(hw.replay([{"n": n} for n in range(100)], rate=10), tmp_path)
    assert topic.reach(T0_US) == {"0": 1}
    assert topic.reach(T0_US + 1_000_000) == {"0": 11}
    assert topic.reach(T0_US + 60_000_000) == {"0": 100}
    assert rows(topic, 9, 11) == [
        (9, T0_US + 900_000, {"n": 9}),
        (10, T0_US + 1_000_000, {"n": 10}),
    ]
    assert topic.finished({"0": 100})
    assert not topic.finished({"0": 99})


def test_a_clock_that_steps_back_takes_nothing_away_that_was_read(tmp_path: Path) -> None:
    topic = opened(hw.replay([{"n": n} for n in range(100)], rate=10), tmp_path)
    assert topic.reach(T0_US - 5_000_000) == {"0": 0}


def write_lines(path: Path, count: int) -> None:
    lines = [json.dumps({"n": n, "word": f"w{n % 3}"}) for n in range(count)]
    lines[5] = "{broken"
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


@pytest.mark.parametrize("name", ["records.jsonl", "records.jsonl.gz"])
def test_lines_are_read_by_any_range_across_blocks(name: str, tmp_path: Path) -> None:
    count = BLOCK_RECORDS + 50
    write_lines(tmp_path / name, count)
    topic = opened(hw.replay(tmp_path / name, rate=None), tmp_path / "topics")
    assert topic.reach(T0_US) == {"0": count}
    across = rows(topic, BLOCK_RECORDS - 2, BLOCK_RECORDS + 2)
    assert [row["n"] for _, _, row in across] == [BLOCK_RECORDS + k for k in (-2, -1, 0, 1)]
    first = next(iter(topic.read(Slice("0", 0, 10))))
    assert first.offsets.tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert [(bad.offset, bad.raw) for bad in first.bad] == [(5, b"{broken")]


def test_csv_and_text_and_parquet_are_replayed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,word\n1,x\n2,y\n")
    (tmp_path / "a.tsv").write_text("n\tword\n1\tx\n2\ty\n")
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    pyarrow.parquet.write_table(pa.table({"n": [1, 2], "word": ["x", "y"]}), tmp_path / "a.parquet")
    wanted = [{"n": 1, "word": "x"}, {"n": 2, "word": "y"}]
    for name in ("a.csv", "a.tsv", "a.parquet"):
        topic = opened(hw.replay(tmp_path / name, name=name), tmp_path / "topics")
        assert [row for _, _, row in rows(topic, 0, 2)] == wanted
    topic = opened(hw.replay(tmp_path / "a.txt"), tmp_path / "topics")
    assert [row for _, _, row in rows(topic, 0, 2)] == [{"value": "one"}, {"value": "two"}]


def test_records_that_do_not_fit_keep_their_place(tmp_path: Path) -> None:
    records = [{"n": 1}, {"n": "two"}, {"n": 3}]
    topic = opened(hw.replay(records, schema="n bigint"), tmp_path)
    (read,) = topic.read(Slice("0", 0, 3))
    assert read.offsets.tolist() == [0, 2]
    assert [(bad.offset, json.loads(bad.raw)) for bad in read.bad] == [(1, {"n": "two"})]


def test_a_file_that_changed_since_the_run_began_is_refused(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", 10)
    opened(hw.replay(tmp_path / "a.jsonl"), tmp_path / "topics")
    write_lines(tmp_path / "a.jsonl", 12)
    with pytest.raises(TopicError, match="has changed since this run began"):
        opened(hw.replay(tmp_path / "a.jsonl"), tmp_path / "topics")


def test_columns_that_the_source_does_not_have_are_shown_beside_those_it_has(
    tmp_path: Path,
) -> None:
    write_lines(tmp_path / "a.jsonl", 10)
    source = hw.replay(tmp_path / "a.jsonl", schema="n bigint, nothing string").steps[0]
    assert isinstance(source, Source)
    with pytest.raises(SchemaMismatch, match=r"nothing string[\s\S]*n bigint, word string"):
        check_source(source)

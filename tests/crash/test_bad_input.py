"""Input that is wrong ends in an error that says what to do, or in quarantine; nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.engine.topics.quarantine import read_quarantine
from headway.errors import PairError, SchemaMismatch, TopicError
from tests.crash.pairs import Fragile
from tests.crash.runs import assert_exact, run_to_end, run_until, start

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def records(count: int) -> list[dict[str, object]]:
    return [{"key": f"k{n % 5}", "value": n % 7} for n in range(count)]


def test_a_corrupt_spool_file_is_named_and_after_its_restoration_all_is_exact(
    spark: SparkSession, tmp_path: Path
) -> None:
    spool = hw.Spool(tmp_path / "in", "key string, value bigint")
    for _ in range(4):
        spool.append(records(40))
    third = sorted((tmp_path / "in" / "p0").glob("*.arrow"))[2]
    whole = third.read_bytes()
    third.write_bytes(whole[:-9] + b"x" + whole[-8:])
    flow = hw.spool(tmp_path / "in").key("key").reduce(n="count(*)").to(f"spool:{tmp_path}/out")

    with pytest.raises(TopicError, match=third.name):
        start(spark, flow, tmp_path / "run").wait(240)

    third.write_bytes(whole)
    assert_exact(flow, run_until(spark, flow, tmp_path / "run", 160))


def test_a_pair_that_raises_shows_the_record_and_can_go_on_with_quarantine(
    spark: SparkSession, tmp_path: Path
) -> None:
    given = records(100)
    given[57] = {"key": "odd", "value": -13}
    given[71] = {"key": "k1", "value": -14}
    topic = hw.replay(given)
    target = f"spool:{tmp_path}/out"

    with pytest.raises(PairError) as caught:
        start(spark, topic.pair(Fragile()).to(target), tmp_path / "run").wait(240)
    told = caught.value
    assert (told.method, told.key, told.record) == ("update", "'odd'", "-13")
    assert "ValueError: -13 is negative" in told.trace

    flow = topic.pair(Fragile(), on_error="quarantine").to(target)
    handle = run_to_end(spark, flow, tmp_path / "run")
    assert_exact(flow, handle)
    assert handle.account.quarantined == 2


def test_records_that_do_not_parse_are_kept_with_their_bytes_and_the_reason(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [json.dumps(record).encode() for record in records(90)]
    lines[10], lines[50], lines[89] = b'{"key": "k1", "val', b'{"key": "k2", "value": "x"}', b"\xff"
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    topic = hw.replay(tmp_path / "in.jsonl", schema="key string, value bigint")
    flow = topic.key("key").reduce(total="sum(value)").to(f"spool:{tmp_path}/out")

    handle = run_to_end(spark, flow, tmp_path / "run")

    assert_exact(flow, handle)
    kept = sorted(read_quarantine(handle.folder / "quarantine" / "out").to_pylist(),
                  key=lambda row: int(row["offset"]))  # fmt: skip
    assert [(row["offset"], row["raw"]) for row in kept] == [(n, lines[n]) for n in (10, 50, 89)]
    assert all(row["why"] == "unreadable" and row["reason"] for row in kept)
    assert "'value'" in kept[1]["reason"]


def test_a_source_whose_columns_do_not_fit_shows_both(spark: SparkSession, tmp_path: Path) -> None:
    hw.Spool(tmp_path / "in", "key string, value string").append([{"key": "a", "value": "b"}])
    topic = hw.spool(tmp_path / "in", schema="key string, value bigint")
    flow = topic.key("key").reduce(n="sum(value)").to(f"spool:{tmp_path}/out")

    with pytest.raises(SchemaMismatch) as caught:
        start(spark, flow, tmp_path / "run")
    assert caught.value.wanted == "key string, value bigint"
    assert caught.value.found == "key string, value string"
    assert caught.value.wanted in str(caught.value)
    assert caught.value.found in str(caught.value)

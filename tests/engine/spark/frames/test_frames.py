"""A flow from a streaming DataFrame of the user's: the same answers, once each, and measured."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import headway as hw
from headway.engine.spark.run import RunHandle
from headway.errors import FlowError, RunError
from headway.measure.phases import MICRO_BATCH
from headway.workloads.keys import KeyCounts

pytestmark = pytest.mark.spark
BRISK = hw.Settings(pace=hw.Pace(interval_s=0.1))
COLUMNS = "key string, value bigint, at timestamp"


def drop(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    """Put a file of records where a stream reads, all at once."""
    folder.mkdir(exist_ok=True)
    written = folder.parent / name
    written.write_text("\n".join(map(json.dumps, records)))
    written.rename(folder / name)


def files_in(spark: SparkSession, folder: Path) -> DataFrame:
    folder.mkdir(exist_ok=True)
    return spark.readStream.schema(COLUMNS).json(str(folder))


def records(first: int, count: int) -> list[dict[str, Any]]:
    return [
        {"key": f"k{n % 3}", "value": n, "at": f"2026-01-01T00:00:{n % 60:02}.500Z"}
        for n in range(first, first + count)
    ]


def until(run: RunHandle, answered: int) -> None:
    for _ in range(600):
        if run.account.answered >= answered or not run.active:
            break
        time.sleep(0.05)
    run.wait(0)
    assert run.account.answered == answered


def rows_in(place: Path) -> list[dict[str, Any]]:
    return pq.read_table(place).to_pylist()


def test_counts_are_right_and_each_is_told_once_over_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    def flow() -> hw.Flow:
        stream = hw.stream(files_in(spark, tmp_path / "in"), name="clicks")
        return stream.key("key").reduce(n="count(*)", top="max(value)").to(f"parquet:{out}")

    out = tmp_path / "out"
    drop(tmp_path / "in", "a.json", records(0, 10))
    with hw.run(flow(), folder=tmp_path / "run", settings=BRISK) as run:
        until(run, 10)
    drop(tmp_path / "in", "b.json", records(10, 5))
    with hw.run(flow(), folder=tmp_path / "run", settings=BRISK) as run:
        until(run, 15)
    told = rows_in(out)
    assert max(row["n"] for row in told if row["key"] == "k0") == 5
    assert Counter((row["key"], row["n"]) for row in told).most_common(1)[0][1] == 1
    assert run.account.balanced
    assert run.account.arrived == 15
    line = run.lines()[-1]
    assert "no gate" in line.because
    assert "from the batch's start" in line.because
    assert (tmp_path / "run" / "phases.parquet").exists()


def test_windows_close_by_the_watermark(spark: SparkSession, tmp_path: Path) -> None:
    drop(tmp_path / "in", "a.json", records(0, 40))
    stream = hw.stream(files_in(spark, tmp_path / "in"), time="at")
    out = tmp_path / "out"
    flow = stream.key("key").window("10s", lateness="1s").reduce(n="count(*)").to(f"parquet:{out}")
    with hw.run(flow, folder=tmp_path / "run", settings=BRISK) as run:
        until(run, 40)
        for _ in range(400):
            if run.lines()[-1].answers:
                break
            time.sleep(0.05)
    told = rows_in(out)
    # Records came up to second 39.5, so windows up to second 30 have closed, and no other.
    assert len(told) == 9
    assert sum(row["n"] for row in told) == 30
    assert {row["window_end"].second for row in told} == {10, 20, 30}


def test_a_python_pair_runs_over_it(spark: SparkSession, tmp_path: Path) -> None:
    drop(tmp_path / "in", "a.json", records(0, 12))
    out = tmp_path / "out"
    stream = hw.stream(files_in(spark, tmp_path / "in"))
    flow = stream.key("key").pair(KeyCounts()).to(f"parquet:{out}")
    with hw.run(flow, folder=tmp_path / "run", settings=BRISK) as run:
        until(run, 12)
    told = Counter((row["key"], row["n"]) for row in rows_in(out))
    assert told == Counter((f"k{key}", n) for key in range(3) for n in range(1, 5))


def test_latency_counts_from_the_arrival_that_a_column_tells(
    spark: SparkSession, tmp_path: Path
) -> None:
    rated = spark.readStream.format("rate").option("rowsPerSecond", 200).load()
    flow = hw.stream(rated, arrival="timestamp").map("value % 5 AS k", key="k")
    with hw.run(
        flow.reduce(n="count(*)").to(f"parquet:{tmp_path / 'out'}"),
        folder=tmp_path / "run",
        settings=BRISK,
    ) as run:
        for _ in range(600):
            if run.account.answered >= 400:
                break
            time.sleep(0.05)
        with pytest.raises(RunError, match="Spark paces it"):
            run.set_pace(interval="1s")
    lines = [line for line in run.lines() if line.rows]
    assert run.account.balanced
    assert list(lines[-1].phases) == list(MICRO_BATCH)
    for line in lines[1:]:
        whole_s = sum(phase["mean"] for phase in line.phases.values())
        assert whole_s == pytest.approx(line.latency["mean"], rel=0.02, abs=0.005)
        assert line.latency["min"] >= 0


def test_what_a_frame_cannot_do_is_said(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(FlowError, match=r"takes a streaming DataFrame.*headway\.replay"):
        hw.stream(spark.range(3))
    frame = files_in(spark, tmp_path / "in")
    with pytest.raises(FlowError, match="arrival column 'when' is not there"):
        hw.stream(frame, arrival="when")
    with pytest.raises(FlowError, match="'value' is a bigint; it must be a timestamp"):
        hw.stream(frame, arrival="value")
    with pytest.raises(FlowError, match="time column 'key' is a string"):
        hw.stream(frame, time="key")
    mixed = hw.stream(frame).map("key").merge(hw.replay([{"key": "a"}]).map("key"))
    with pytest.raises(FlowError, match="'records' has a gate"):
        hw.run(mixed.to("console"), folder=tmp_path / "run")
    with pytest.raises(FlowError, match="only topics of Kafka's are read record by record"):
        hw.run(hw.stream(frame).to("console"), folder=tmp_path / "two", mode="real-time")

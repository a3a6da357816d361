"""A run on Spark: paced, stopped, resumed, and honest about what it holds."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow.parquet
import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceRegistration

import headway as hw
from headway.engine.spark import session
from headway.engine.spark.metering.stages import stages_of
from headway.engine.spark.run import RunHandle
from headway.errors import CheckpointError, FlowError, RunError
from headway.flow.stream import Stream
from headway.measure.account import Account
from headway.measure.phases import MICRO_BATCH, mean_phases
from headway.workloads.makers.keyed import Keyed

pytestmark = pytest.mark.spark
BRISK = hw.Settings(pace=hw.Pace(interval_s=0.05))


def counts(rate: float | None = None, count: int | None = None) -> Stream:
    return hw.replay(Keyed(keys=5), rate=rate, count=count).key("key").reduce(n="count(*)")


def until_batches(run: RunHandle, count: int) -> None:
    for _ in range(1200):
        if len(run.lines()) >= count or not run.active:
            return
        time.sleep(0.05)
    raise AssertionError(f"only {len(run.lines())} batches")


def test_the_pace_changes_five_times_without_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    flow = counts(rate=2000).to("parquet:" + str(tmp_path / "out"))
    intervals = [0.05, 0.2, 0.1, 0.3, 0.15, 0.4]
    settings = hw.Settings(pace=hw.Pace(interval_s=intervals[0]), until="stopped")
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=settings) as run:
        for number, interval in enumerate(intervals):
            run.set_pace(interval=f"{interval}s", max_rows=1000 + number, readers=1 + number % 2)
            until_batches(run, len(run.lines()) + 3)
    lines = run.lines()
    seen = list(dict.fromkeys((line.interval_s, line.max_rows, line.readers) for line in lines))
    assert seen[-6:] == [(s, 1000 + n, 1 + n % 2) for n, s in enumerate(intervals)]
    assert [line.batch for line in lines] == list(range(len(lines)))  # one query, no gap
    assert all(line.rows <= 1005 for line in lines[1:])
    for line in lines[2:]:
        assert list(line.phases) == list(MICRO_BATCH)
        whole_s = sum(phase["mean"] for phase in line.phases.values())
        assert whole_s == pytest.approx(line.latency["mean"], rel=0.02, abs=0.002)
    means = mean_phases((line.rows, line.phases) for line in lines)
    assert min(means[name] for name in ("wait", "launch", "map", "reduce", "publish")) > 0
    assert run.account.balanced


def test_a_stopped_run_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    flow = counts(count=5000).to("parquet:" + str(tmp_path / "out"))
    slow = hw.Settings(pace=hw.Pace(interval_s=0.05, max_rows=700))
    first = hw.run(flow, folder=tmp_path / "run", session=spark, settings=slow)
    until_batches(first, 2)
    first.stop()
    assert 0 < first.account.answered < 5000
    second = hw.run(flow, folder=tmp_path / "run", session=spark, settings=slow)
    assert second.wait(120)
    assert second.account == Account(arrived=5000, answered=5000)
    assert not list((tmp_path / "run").rglob(".*.crc"))  # Hadoop's; the states have Spark's
    assert [line.batch for line in second.lines()] == list(range(len(second.lines())))
    table = pyarrow.parquet.read_table(tmp_path / "out")
    last = {row["key"]: row["n"] for row in table.sort_by("n").to_pylist()}
    assert sum(last.values()) == 5000


def test_two_sinks_are_fed_by_one_flow(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: list[object] = []
    register = DataSourceRegistration.register
    monkeypatch.setattr(
        DataSourceRegistration,
        "register",
        lambda self, source: (registered.append(source), register(self, source)),
    )
    source = hw.replay(Keyed(keys=5), count=300)
    even = source.filter("value % 2 = 0").map("value").to("spool:" + str(tmp_path / "even"))
    flow = source.key("key").reduce(n="count(*)").to("parquet:" + str(tmp_path / "counts")) + even
    run = hw.run(flow, folder=tmp_path / "run", session=spark, settings=BRISK)
    assert run.wait(120)
    assert {line.query for line in run.lines()} == {"counts", "even"}
    assert run.account.arrived == 600  # each sink has its own account of the 300
    assert run.account.balanced
    assert len(registered) == 2  # a registration that they shared would be a race, see the docs


def test_one_folder_has_one_run_at_a_time(spark: SparkSession, tmp_path: Path) -> None:
    flow = counts(rate=100).to("parquet:" + str(tmp_path / "out"))
    with (
        hw.run(flow, folder=tmp_path / "run", session=spark, settings=BRISK),
        pytest.raises(CheckpointError, match="another run holds the folder"),
    ):
        hw.run(flow, folder=tmp_path / "run", session=spark)


def test_what_spark_cannot_run_is_said_before_the_start(
    spark: SparkSession, tmp_path: Path
) -> None:
    flow = hw.replay(Keyed(), count=10).reduce(n="count(DISTINCT key)").to("console")
    with pytest.raises(FlowError, match="Spark cannot run this flow"):
        hw.run(flow, folder=tmp_path / "run", session=spark)


def test_a_run_that_is_given_no_flow_says_so() -> None:
    with pytest.raises(RunError, match=r"ends in .to\(...\); got Stream"):
        hw.run(counts(count=5))  # type: ignore[arg-type]


def test_stages_that_spark_has_forgotten_are_no_error(spark: SparkSession) -> None:
    assert stages_of(spark.sparkContext, "no such group") == []
    spark.sparkContext.setJobGroup("short", "a job")
    spark.range(10).selectExpr("id % 3 AS k").groupBy("k").count().collect()
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10_000)
    store = spark.sparkContext._jsc.sc().statusStore()
    found = stages_of(spark.sparkContext, "short")
    assert len(found) == 2
    assert all(stage.submitted_us <= stage.launched_us <= stage.completed_us for stage in found)
    with pytest.raises(Py4JError):
        store.lastStageAttempt(1_000_000)


@pytest.mark.slow
@pytest.mark.long
def test_a_query_whose_python_was_slow_to_start_is_started_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, mark = tmp_path / "python", tmp_path / "slept"
    script.write_text(
        f"""#!/bin/sh
case "$*" in *python_streaming_source_runner*)
    [ -e {mark} ] || {{ touch {mark}; sleep 11; }};;
esac
exec {sys.executable} "$@"
"""
    )
    script.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(script))
    monkeypatch.setattr(session, "same_home", lambda python: True)
    flow = counts(count=300).to("parquet:" + str(tmp_path / "out"))
    run = hw.run(flow, folder=tmp_path / "run", session=spark, settings=BRISK)
    assert run.wait(120)
    assert mark.exists()
    assert run.account == Account(arrived=300, answered=300)

"""Run one flow on the Spark engine and, over the same batches, on the reference engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import headway as hw
from headway.engine.reference.run import Answer
from headway.engine.spark.run import RunHandle
from headway.engine.topics.quarantine import count_by_reason
from headway.flow.stream import Stream
from headway.testing.compare import compare
from headway.testing.replayed import reference_outcome

SMALL_BATCHES = hw.Pace(interval_s=0, max_rows=10)


@dataclass(frozen=True)
class Ran:
    """What the Spark engine did."""

    handle: RunHandle
    answers: list[Answer]
    late: int


def run_on_spark(spark: SparkSession, flow: hw.Flow, folder: Path, pace: hw.Pace) -> RunHandle:
    """Run to the end of the topic."""
    settings = hw.Settings(pace=pace, buckets=4)
    handle = hw.run(flow, folder=folder, session=spark, settings=settings)
    assert handle.wait(300)
    return handle


def assert_engines_agree(
    spark: SparkSession, make: Callable[[], Stream], folder: Path, pace: hw.Pace = SMALL_BATCHES
) -> Ran:
    """Both engines give the same answers in the same batches, and set aside the same records."""
    answers: list[Answer] = []

    def keep(batch: int, table: pa.Table) -> None:
        answers.extend(Answer(batch, row) for row in table.to_pylist())

    flow = make().to(keep, name="kept")
    handle = run_on_spark(spark, flow, folder, pace)
    expected = reference_outcome(flow, folder)
    difference = compare(wanted=expected.answers, found=answers)
    assert not difference, str(difference)
    late = count_by_reason(folder / "quarantine" / "kept").get("late", 0)
    assert late == sum(aside.reason == "late" for aside in expected.set_aside)
    assert handle.account.balanced, str(handle.account)
    return Ran(handle, answers, late)

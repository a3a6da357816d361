"""Runs in the tests' own Spark, and what must hold of each once it has ended."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import headway as hw
from headway.engine.spark.run import RunHandle
from headway.testing.compare import compare
from headway.testing.replayed import published, reference_outcome

PATIENCE_S = 240.0
SMALL_BATCHES = hw.Settings(pace=hw.Pace(interval_s=0, max_rows=40), buckets=4)


def start(spark: SparkSession, flow: hw.Flow, folder: Path) -> RunHandle:
    """Start a flow in small batches."""
    return hw.run(flow, folder=folder, session=spark, settings=SMALL_BATCHES)


def run_to_end(spark: SparkSession, flow: hw.Flow, folder: Path) -> RunHandle:
    """Run a flow over a topic that ends."""
    handle = start(spark, flow, folder)
    assert handle.wait(PATIENCE_S), "the run did not end in time"
    return handle


def run_until(spark: SparkSession, flow: hw.Flow, folder: Path, records: int) -> RunHandle:
    """Run a flow over a topic that goes on, until so many records are accounted for."""
    handle = start(spark, flow, folder)
    for _ in range(int(PATIENCE_S / 0.05)):
        account = handle.account
        if account.answered + account.quarantined >= records or handle.wait(0.05):
            break
    handle.stop()
    return handle


def assert_exact(flow: hw.Flow, handle: RunHandle) -> None:
    """The answers are those of the reference engine, and every record is accounted for."""
    wanted = reference_outcome(flow, handle.folder)
    assert wanted.answers
    found = compare(wanted.answers, published(flow, handle.folder))
    assert not found, str(found)
    assert handle.account.balanced, str(handle.account)
    assert handle.account.waiting == 0
    assert handle.account.quarantined == len(wanted.set_aside)

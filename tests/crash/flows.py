"""The two flows that are killed over and over: native windows, and a Python pair."""

from __future__ import annotations

from pathlib import Path

import headway as hw
from headway.testing.job import Job
from headway.workloads.keys import KeyCounts
from headway.workloads.makers.keyed import Keyed

SETTINGS = hw.Settings(
    master="local[2]",
    pace=hw.Pace(interval_s=0.05, max_rows=250),
    buckets=4,
    spark={"spark.sql.streaming.minBatchesToRetain": "10000"},
)


def windowed(place: Path, count: int = 2_000) -> hw.Flow:
    """Counts and sums of each key in windows of one second, to Parquet."""
    records = hw.replay(Keyed(keys=20), rate=400, count=count)
    return (
        records.key("key")
        .window("1s")
        .reduce(n="count(*)", total="sum(value)")
        .to(f"parquet:{place}/answers")
    )


def paired(place: Path, count: int = 1_500) -> hw.Flow:
    """Running counts of each key by a Python pair, to a spool."""
    records = hw.replay(Keyed(keys=20), rate=None, count=count)
    return records.pair(KeyCounts()).to(f"spool:{place}/answers")


def job(flow: hw.Flow, place: Path) -> Job:
    """The flow, to be run in a folder beside its answers."""
    return Job(flow, place / "run", SETTINGS)

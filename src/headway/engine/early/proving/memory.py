"""How much memory the operators of a question held at most, as Spark accounts for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from headway.engine.early.proving.race import Race
from headway.engine.early.storage import Stored


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a question took: time, the most memory that one stage held, and its jobs."""

    total_s: float
    peak_bytes: int
    chunks: int


def footprint_of(race: Race, sql: str, tables: Mapping[str, Stored], points: int) -> Footprint:
    """Ask early to the last answer, a job for each point, and look at the stages that ran."""
    before = next_stage(race.spark)
    timed = race.early(sql, tables, points, chunk=1)
    race.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10_000)
    peak = max((memory_of(race.spark, n) for n in range(before, next_stage(race.spark))), default=0)
    return Footprint(timed.total_s, peak, len(timed.spent))


def next_stage(spark: SparkSession) -> int:
    """The number that the next stage will have."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().nextStageId())


def memory_of(spark: SparkSession, stage: int) -> int:
    """The most that the tasks of a stage held for joins, sorts and aggregates, in bytes."""
    try:
        found = spark.sparkContext._jsc.sc().statusStore().lastStageAttempt(stage)
    except Py4JError:  # a stage that was never run
        return 0
    return int(found.peakExecutionMemory())

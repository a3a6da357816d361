"""How much memory the operators of a question held at most, as Spark accounts for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from headway.engine.early.proving.race import Race
from headway.engine.early.storage import Stored
from headway.errors import RunError

TASKS = 10_000  # of a stage, more than any has here


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a question took: time, the most memory that was held at a time, and its jobs."""

    total_s: float
    peak_bytes: int
    chunks: int
    last: str  # the fingerprint of the last answer


@dataclass(frozen=True, slots=True)
class Held:
    """A task: when it ran, by Java's clock, and the most that it held for its operators."""

    begun_ms: int
    ended_ms: int
    peak_bytes: int


def footprint_of(
    race: Race, sql: str, tables: Mapping[str, Stored], points: int, chunk: int | None = None
) -> Footprint:
    """Ask early to the last answer, and look at the tasks that ran."""
    before = next_stage(race.spark)
    timed = race.early(sql, tables, points, chunk)
    race.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10_000)
    stages = range(before, next_stage(race.spark))
    held = [task for stage in stages for task in tasks_of(race.spark, stage)]
    peak_bytes = most_at_once(held)
    if not peak_bytes:
        raise RunError("Spark tells of no task that held memory, so there is nothing to compare")
    return Footprint(timed.total_s, peak_bytes, len(timed.spent), timed.last)


def most_at_once(tasks: Sequence[Held]) -> int:
    """The most that tasks held at a time, each as if it had its most all the while.

    >>> most_at_once([Held(0, 10, 5), Held(9, 20, 7), Held(20, 30, 8)])
    12
    """
    steps = [(task.begun_ms, task.peak_bytes) for task in tasks]
    steps += [(task.ended_ms, -task.peak_bytes) for task in tasks]
    most = held = 0
    for _, change in sorted(steps):  # at the same instant, those that end come first
        held += change
        most = max(most, held)
    return most


def next_stage(spark: SparkSession) -> int:
    """The number that the next stage will have."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().nextStageId())


def tasks_of(spark: SparkSession, stage: int) -> Iterator[Held]:
    """The tasks of a stage; none of one that was never run."""
    store = spark.sparkContext._jsc.sc().statusStore()
    try:
        attempt = store.lastStageAttempt(stage).attemptId()
    except Py4JError:
        return
    found = store.taskList(stage, attempt, TASKS)
    for n in range(found.size()):
        task = found.apply(n)
        if task.duration().isDefined() and task.taskMetrics().isDefined():
            begun_ms = int(task.launchTime().getTime())
            peak = int(task.taskMetrics().get().peakExecutionMemory())
            yield Held(begun_ms, begun_ms + int(task.duration().get()), peak)

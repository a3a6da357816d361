"""What Spark's status store says of the stages of a batch: when each ran, and on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its instants in microseconds, and what its tasks spent together, in seconds."""

    submitted_us: int
    launched_us: int
    completed_us: int
    run_s: float
    fetch_wait_s: float
    shuffle_write_s: float

    @property
    def wall_s(self) -> float:
        """From the first task's start to the last one's end."""
        return max(0.0, (self.completed_us - self.launched_us) / 1e6)


def stages_of(context: SparkContext, group: str) -> list[Stage]:
    """The stages of the last job of a group, in the order in which they ran.

    None when the store does not know them, not yet or not any more: then their time is unexplained.
    """
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    try:
        jobs = tracker.getJobIdsForGroup(group)
        info = tracker.getJobInfo(max(jobs)) if len(jobs) else None
        numbers = info.stageIds if info else ()
        found = [read_stage(store.lastStageAttempt(number)) for number in numbers]
    except Py4JError:
        return []
    return sorted((stage for stage in found if stage is not None), key=lambda s: s.submitted_us)


def read_stage(data: Any) -> Stage | None:
    """A stage of the store's; None for one that was skipped or has not ended."""
    times = [data.submissionTime(), data.firstTaskLaunchedTime(), data.completionTime()]
    if any(time.isEmpty() for time in times):
        return None
    submitted, launched, completed = (int(time.get().getTime()) * 1_000 for time in times)
    return Stage(
        submitted,
        launched,
        completed,
        data.executorRunTime() / 1e3,
        data.shuffleFetchWaitTime() / 1e3,
        data.shuffleWriteTime() / 1e9,
    )


def phases_within(
    stages: Sequence[Stage], called_us: int, computed_us: int, state_s: Mapping[str, float]
) -> dict[str, float]:
    """What the time from the call to the result was spent on, by phase.

    Wall time of a stage is shared out as its tasks spent theirs. `state_s` is what the tasks spent
    on bringing states to disk.
    """
    if not stages:
        return {}
    parts = dict.fromkeys(("launch", "map", "shuffle write", "fetch", "reduce", "state"), 0.0)
    at_us = called_us
    for number, stage in enumerate(stages):
        parts["launch"] += max(0.0, (stage.launched_us - at_us) / 1e6)
        at_us = stage.completed_us
        busy_s = max(stage.run_s, 1e-6)
        write_s = stage.wall_s * min(1.0, stage.shuffle_write_s / busy_s)
        fetch_s = stage.wall_s * min(1.0, stage.fetch_wait_s / busy_s)
        parts["shuffle write"] += write_s
        parts["fetch"] += fetch_s
        rest_s = max(0.0, stage.wall_s - write_s - fetch_s)
        if number == 0:
            parts["map"] += rest_s
            continue
        commit_s = min(rest_s, stage.wall_s * state_s.get("commit", 0.0) / busy_s)
        parts["state"] += commit_s
        parts["reduce"] += rest_s - commit_s
    parts["collect"] = max(0.0, (computed_us - at_us) / 1e6)
    return parts

"""What Spark's status store says of the stages of a batch: when each ran, and on what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

from headway.clock import Clock

EVERY_S = 5.0  # between two glances at the stages
SOON_S = 1.0  # and where batches have become others than at the last one
UNLIKE, OTHER = 1.5, 3.0  # times as large or as small; so much so that it is looked at once
SLACK_US = 2_000  # Spark's times are whole milliseconds


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its instants in microseconds, and what its tasks spent together, in seconds."""

    submitted_us: int
    launched_us: int
    completed_us: int
    run_s: float
    fetch_wait_s: float
    shuffle_write_s: float
    shuffle_bytes: int = 0
    cpu_s: float = 0.0
    number: int = 0

    @property
    def wall_s(self) -> float:
        """From the first task's start to the last one's end."""
        return max(0.0, (self.completed_us - self.launched_us) / 1e6)


def stages_of(context: SparkContext, group: str, jobs_back: int = 1) -> list[Stage]:
    """The stages of the last job of a group that has some, in the order in which they ran.

    `jobs_back` is how many jobs are looked at: in real-time mode the next one may run already. None
    when the store does not know them, not yet or not any more: then their time is unexplained.
    """
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    try:
        for job in sorted(tracker.getJobIdsForGroup(group), reverse=True)[:jobs_back]:
            info = tracker.getJobInfo(job)
            read = [read_stage(store.lastStageAttempt(n)) for n in (info.stageIds if info else ())]
            found = [stage for stage in read if stage is not None]
            if found:
                return sorted(found, key=lambda stage: stage.submitted_us)
    except Py4JError:
        pass
    return []


def cpu_of(stages: Sequence[Stage]) -> dict[str, float]:
    """Processor time of the tasks that map, and of those that reduce, in seconds.

    In real-time mode all stages run at once; the one that maps has the lowest number.
    """
    found = sorted(stages, key=lambda stage: stage.number)
    if not found:
        return {}
    reduced_s = sum(stage.cpu_s for stage in found[1:])
    return {"map_cpu_s": found[0].cpu_s, "reduce_cpu_s": reduced_s}


class Glances:
    """Asks for the stages of a batch now and then: each time costs a tenth of a batch's time.

    In between, the time that a batch spent in its stages is shared out as at the last glance. Of a
    larger batch that is another share, so where batches change there are more glances.
    """

    def __init__(self, look: Callable[[], Sequence[Stage]], clock: Clock) -> None:
        self._look, self._clock = look, clock
        self._looked_s = -EVERY_S
        self._shares: dict[str, float] = {}
        self._work: dict[str, float] = {}
        self._seen, self._shape = (1, 1), (1, 1)

    def of(self, rows: int, readers: int) -> Glances:
        """Say how large the batch is whose stages are asked for next, and how many tasks read."""
        self._shape = (max(1, rows), readers)
        return self

    @property
    def _due(self) -> bool:
        """Whether the last glance was long ago, or at a batch of another kind."""
        gone_s = self._clock.steady_s() - self._looked_s
        (rows, readers), (then, as_many) = self._shape, self._seen
        times = max(rows / then, then / rows)
        if times > OTHER or readers != as_many:
            return True
        return gone_s >= (SOON_S if times > UNLIKE else EVERY_S)

    def within(self, called_us: int, computed_us: int, commit_s: float) -> dict[str, float]:
        """What the time from the call to the result was spent on, by phase."""
        spent_s = max(0.0, (computed_us - called_us) / 1e6)
        # The next batch may have begun by now: only stages of this one tell of it.
        seen = self._look() if self._due else ()
        stages = [s for s in seen if called_us - SLACK_US <= s.submitted_us <= computed_us]
        if stages:
            self._looked_s, self._seen = self._clock.steady_s(), self._shape
            found = phases_within(stages, called_us, computed_us, commit_s)
            whole_s = max(spent_s, sum(found.values()), 1e-6)
            self._shares = {name: part / whole_s for name, part in found.items()}
            self._work = {
                "task_s": sum(stage.run_s for stage in stages),
                "shuffle_bytes": sum(stage.shuffle_bytes for stage in stages),
            }
        return {name: share * spent_s for name, share in self._shares.items()}

    def work(self) -> dict[str, float]:
        """What the tasks of the last batch have done, if it was looked at; told once."""
        done, self._work = self._work, {}
        return done


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
        int(data.shuffleWriteBytes()),
        data.executorCpuTime() / 1e9,
        int(data.stageId()),
    )


def phases_within(
    stages: Sequence[Stage], called_us: int, computed_us: int, commit_s: float
) -> dict[str, float]:
    """What the time from the call to the result was spent on, by phase.

    Wall time of a stage is shared out as its tasks spent theirs. `commit_s` is what the tasks spent
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
        state_s = min(rest_s, stage.wall_s * commit_s / busy_s)
        parts["state"] += state_s
        parts["reduce"] += rest_s - state_s
    parts["collect"] = max(0.0, (computed_us - at_us) / 1e6)
    return parts

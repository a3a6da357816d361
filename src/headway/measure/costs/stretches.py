"""What real-time mode costs: a few figures of each stretch from one checkpoint to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from headway.measure.batches import BatchLine
from headway.measure.latency import MIDDLES, STEPS
from headway.measure.moments import ARRIVALS, Moments

KEPT = 64  # of the newest stretches
PASSING = ("fetch", "map", "shuffle", "publish", "unexplained")  # what each record goes through
SOME = 30  # a stretch of fewer records says nothing about a tail
BEGAN = "began"  # marks a stretch before which the query had stopped, which is no pause of it


@dataclass(frozen=True, slots=True)
class Stretch:
    """One stretch of real-time mode.

    rate_per_s      records a second
    seconds         how long it took
    phases_s        the mean time of a record in each phase, the pause left out
    steps_s         quantiles of the time in each phase, evenly apart in rank
    pause_s         how long the checkpoint before it held records up, at most
    held_s          how long it did so on average, over all records of the stretch; 0: not known
    map_cpu_s       processor time of a record in the tasks that map, and reduce_cpu_s in the others
    shuffle_wait_s  how long a record might wait for others then, and fetch_wait_s in Kafka
    """

    rate_per_s: float
    seconds: float
    phases_s: Mapping[str, float]
    steps_s: Mapping[str, tuple[float, ...]]
    pause_s: float
    map_cpu_s: float = 0.0
    reduce_cpu_s: float = 0.0
    shuffle_wait_s: float = 0.0
    fetch_wait_s: float = 0.0
    held_s: float = 0.0
    mappers: int = 1
    reducers: int = 1

    @classmethod
    def of(cls, line: BatchLine) -> Stretch | None:
        """What a line of the log tells; None when it holds too little."""
        seconds = line.published_s - line.started_s
        if line.rows < SOME or seconds <= 0 or not line.phases or line.work.get(BEGAN):
            return None
        pause_s = pause_of(line)
        passing = {
            name: undisturbed(phase, pause_s / seconds)
            for name, phase in line.phases.items()
            if name in PASSING
        }
        cpu = {n: line.work.get(n, 0.0) / line.rows for n in ("map_cpu_s", "reduce_cpu_s")}
        waits = {n: line.work.get(n, 0.0) for n in ("shuffle_wait_s", "fetch_wait_s")}
        return cls(
            line.rows / seconds,
            seconds,
            {name: mean_s for name, (mean_s, _) in passing.items()},
            {name: steps for name, (_, steps) in passing.items()},
            pause_s,
            **cpu,
            **waits,
            held_s=held_of(line, sum(mean_s for mean_s, _ in passing.values())),
            mappers=max(1, line.readers),
            reducers=max(1, round(line.work.get("tasks", 1))),
        )


def undisturbed(phase: Mapping[str, Any], share: float) -> tuple[float, tuple[float, ...]]:
    """The mean and the shape of a phase without the records that a pause made late.

    What piled up in a pause waits in the phases behind it, too, where it would count once more:
    as many of the longest times as records came in the pause are left out.
    """
    steps = phase.get("steps", ())
    if not len(steps) or share >= 1:
        return phase["mean"], tuple(steps)
    kept = np.interp(MIDDLES * (1 - share), MIDDLES, steps)
    mean_s = float((kept * np.diff(STEPS)).sum())
    return min(mean_s, phase["mean"]), tuple(float(each) for each in kept)


def pause_of(line: BatchLine) -> float:
    """How long the checkpoint before a stretch held records up, at most.

    Until the first record is read, and then until tasks that have just started are on their way:
    the latest record of a stretch is one of those that met all of it.
    """
    first_s = line.phases["pause"]["max"] if "pause" in line.phases else 0.0
    if not first_s:
        return 0.0
    return max(first_s, float(line.latency["max"]) - float(line.latency["p50"]))


def held_of(line: BatchLine, passing_s: float) -> float:
    """How long the checkpoint before a stretch held up its records on average.

    All that they were late by and that they did not pass through: tasks that have just started are
    slow, so what piled up in the pause is worked off later than it would be by tasks that run.
    """
    return max(0.0, float(line.latency["mean"]) - passing_s) if pause_of(line) else 0.0


@dataclass(frozen=True, slots=True)
class StreamCosts:
    """What was learned of a flow in real-time mode."""

    stretches: tuple[Stretch, ...] = ()
    records: int = 0
    arrivals: Moments = field(default_factory=Moments)

    def together(self, newer: StreamCosts, keep: float) -> StreamCosts:
        """What was known and what was learned since; of the former so large a share is kept."""
        kept = self.stretches[len(self.stretches) - round(keep * len(self.stretches)) :]
        return StreamCosts(
            (*kept, *newer.stretches)[-KEPT:],
            self.records + newer.records,
            Moments.together([self.arrivals.faded(keep), newer.arrivals]),
        )

    def as_dict(self) -> dict[str, Any]:
        """The costs as they are kept."""
        stretches = [asdict(each) for each in self.stretches]
        return {
            "records": self.records, "arrivals": self.arrivals.as_dict(), "stretches": stretches
        }  # fmt: skip

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> StreamCosts:
        """Read what was kept."""
        stretches = tuple(
            replace(
                Stretch(**each),
                steps_s={name: tuple(steps) for name, steps in each["steps_s"].items()},
            )
            for each in kept["stretches"]
        )
        return cls(stretches, int(kept["records"]), Moments.from_dict(kept["arrivals"]))


def stream_costs(lines: Iterable[BatchLine]) -> StreamCosts:
    """What the stretches of a run teach."""
    found, came, records = list[Stretch](), [Moments()], 0
    for line in lines:
        stretch = Stretch.of(line)
        if stretch is not None:
            found.append(stretch)
            records += line.rows
            if ARRIVALS in line.moments:
                came.append(Moments.from_dict(line.moments[ARRIVALS]))
    return StreamCosts(tuple(found[-KEPT:]), records, Moments.together(came))

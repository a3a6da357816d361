"""Where the time of an answer went: phases that are disjoint and add up to its latency.

Paper 1, table 2, lists what a tuple goes through: batching, queueing, network, CPU, disk, polling.
The phases here are those that can be told apart on Spark. Each has a mean, a variance and quantiles
over the records of a batch; what no figure accounts for is a phase of its own, `unexplained`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headway.measure.latency import Latency, sampled

UNEXPLAINED = "unexplained"
# In the order in which a record goes through them.
MICRO_BATCH = {
    "queue": "the batch before was still running",
    "wait": "for the batch to begin",
    "down": "the run had been stopped, or killed, and was started again",
    "offsets": "the decision is logged",
    "planning": "Spark plans the batch",
    "launch": "tasks are started",
    "map": "records are read, decoded and mapped",
    "shuffle write": "rows are written for the reducers",
    "fetch": "reducers wait for rows",
    "reduce": "rows are put together with the states",
    "state": "states are brought to disk",
    "collect": "answers come to the driver",
    "publish": "answers go out",
    UNEXPLAINED: "what nothing accounts for",
}
REAL_TIME = {
    "pause": "a checkpoint was being made",
    "fetch": "Kafka hands the record out",
    "map": "the record is decoded and mapped",
    "shuffle": "for others, on the way to the reducer, in its queue, and the update of the state",
    "publish": "the answer goes out",
    UNEXPLAINED: "what nothing accounts for",
}


@dataclass(frozen=True, slots=True)
class Phase:
    """The time that the records of a batch spent in one phase."""

    mean_s: float
    variance_s2: float = 0.0
    p50_s: float = 0.0
    p99_s: float = 0.0
    max_s: float = 0.0
    steps_s: tuple[float, ...] = ()  # quantiles, where records differ; see measure/latency.py

    @classmethod
    def same(cls, seconds: float) -> Phase:
        """A phase that every record of the batch spends alike."""
        return cls(seconds, 0.0, seconds, seconds, seconds)

    @classmethod
    def of(cls, latency: Latency) -> Phase:
        """A phase that records spend each in its own time."""
        p50_s, p99_s = map(float, latency.quantiles((0.5, 0.99)))
        steps_s = tuple(latency.steps()) if latency.max_s > latency.min_s else ()
        return cls(latency.mean_s, latency.variance_s2, p50_s, p99_s, latency.max_s, steps_s)

    def as_dict(self) -> dict[str, Any]:
        """The figures as the log keeps them."""
        figures = {
            "mean": round(self.mean_s, 6),
            "variance": round(self.variance_s2, 9),
            "p50": round(self.p50_s, 6),
            "p99": round(self.p99_s, 6),
            "max": round(self.max_s, 6),
        }
        return figures | ({"steps": list(self.steps_s)} if self.steps_s else {})


Phases = dict[str, dict[str, Any]]  # as a line of the log has them


@dataclass(frozen=True, slots=True)
class Timeline:
    """The instants of a micro-batch, in microseconds, and what is known of the time between them.

    decided, called, computed, published  instants, each after the one before
    before   parts of the time from the decision to the call, in seconds, by phase
    within   parts of the time from the call to the result, in seconds, by phase
    """

    decided_us: int
    called_us: int
    computed_us: int
    published_us: int
    before: Mapping[str, float] = field(default_factory=dict)
    within: Mapping[str, float] = field(default_factory=dict)


def micro_batch_phases(ages: Latency, since_last_s: float, time: Timeline) -> dict[str, Phase]:
    """The phases of a micro-batch; they add up to the time from arrival to publication.

    `ages` is how old the records were when the batch was decided, `since_last_s` how long before
    that the batch before had ended: what a record waited before then, it waited behind that batch.
    """
    queued, waited = split_at(ages, max(0.0, since_last_s))
    found = {"queue": Phase.of(queued), "wait": Phase.of(waited)}
    parts = {name: 0.0 for name in MICRO_BATCH if name not in found}
    first_s = max(0.0, (time.called_us - time.decided_us) / 1e6)
    second_s = max(0.0, (time.computed_us - time.called_us) / 1e6)
    for seconds, known in ((first_s, time.before), (second_s, time.within)):
        scaled = fitted(known, seconds)
        for name, part in scaled.items():
            parts[name] += part
        parts[UNEXPLAINED] += seconds - sum(scaled.values())
    parts["publish"] += max(0.0, (time.published_us - time.computed_us) / 1e6)
    return found | {name: Phase.same(seconds) for name, seconds in parts.items()}


def real_time_phases(whole: Latency, parts: Mapping[str, Latency]) -> dict[str, Phase]:
    """The phases of an interval in real-time mode: `parts` by name, and what the whole has more.

    `whole` is the time from arrival to the sink, to which `publish` comes in addition.
    """
    found = {name: Phase.of(parts[name]) for name in REAL_TIME if name in parts}
    known_s = sum(phase.mean_s for name, phase in found.items() if name != "publish")
    return found | {UNEXPLAINED: Phase.same(max(0.0, whole.mean_s - known_s))}


def fitted(known: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Parts of a time that are not more than the whole: Spark's figures are whole milliseconds.

    >>> fitted({"a": 0.010, "b": 0.030}, 0.020)
    {'a': 0.005, 'b': 0.015}
    >>> fitted({"a": 0.010}, 0.5)
    {'a': 0.01}
    """
    whole = sum(known.values())
    share = min(1.0, seconds / whole) if whole else 0.0
    return {name: part * share for name, part in known.items()}


def split_at(ages: Latency, recent_s: float) -> tuple[Latency, Latency]:
    """Ages cut into what lies before an instant, `recent_s` ago, and what lies after it."""
    if not ages.count:
        return Latency.none(), Latency.none()
    older = np.maximum(ages.values_s - recent_s, 0.0)
    return sampled(older, ages.weights), sampled(ages.values_s - older, ages.weights)


def mean_phases(lines: Iterable[tuple[int, Phases]]) -> dict[str, float]:
    """The mean time in each phase over many batches, each with its number of records."""
    total, sums = 0, dict[str, float]()
    for rows, phases in lines:
        if rows and phases:
            total += rows
            for name, figures in phases.items():
                sums[name] = sums.get(name, 0.0) + rows * figures["mean"]
    return {name: found / total for name, found in sums.items()} if total else {}


def unexplained_share(means: Mapping[str, float]) -> float:
    """The share of the whole time that nothing accounts for."""
    whole = sum(means.values())
    return means.get(UNEXPLAINED, 0.0) / whole if whole else 0.0

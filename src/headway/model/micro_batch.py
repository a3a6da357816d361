"""The latency of records and windows in micro-batch: a clock, a server, and batches that grow.

The gate starts a batch when its interval has passed and the one before is done, and lets it take
all that waits. So the queue of section 3.2 is a D/G/1 queue with one difference: what came while a
batch overran is served as one larger batch, not as several. With C the time between two decisions
and S(n) the service of n records, one batch leads to the next by

    C' = max(interval, S(rate C) + after),

which is Lindley's recursion for a server that takes its queue whole. A record arrives anywhere in
its C and is answered with its batch, so its latency is even between S and S + C. All of it follows
from a run of the recursion with service times drawn from those that were seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headway.measure.costs.batches import tasks_s
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.model.prediction import RANKS, Prediction, hopeless
from headway.model.service import Array, Service, phases_at

ROUNDS = 320  # of the recursion that count, for a prediction; a search makes do with fewer
WARM = 32  # before them
HALVINGS = 26  # of the search for a quantile: to within a millionth of a percent
DRIFT = 0.10  # by how much costs differ from one run to another, on a machine that others share


@dataclass(frozen=True, slots=True)
class Cycles:
    """Runs of the recursion, one for each column: times between decisions, and of service."""

    cycle_s: Array
    service_s: Array
    closing_s: Array  # more, for a batch that tells windows
    records: Array  # that came in each, on average

    @property
    def often(self) -> Array:
        """The share of records that wait for their batch.

        Where less than one comes in a cycle, most find that the interval has passed, and a batch
        starts with them at once.
        """
        return np.minimum(1.0, self.records)

    def spans(self, windows: bool, lateness_s: float) -> tuple[Array, Array]:
        """For each cycle the shortest latency of what arrives in it, and how much more it may be.

        A window is final when a record beyond its end was in a batch, and the next batch has told
        the answer: one more cycle, and the lateness that stragglers are allowed.
        """
        if not windows:
            return self.service_s, self.cycle_s * self.often
        least = self.cycle_s[1:] + self.service_s[1:] + self.closing_s[1:] + lateness_s
        return least, self.cycle_s[:-1]


def run_cycles(
    service: Service, rate_per_s: Array, interval_s: Array, rounds: int = ROUNDS
) -> Cycles:
    """Run the recursion for many candidates at once."""
    ratios = service.ratios[spread_out(len(service.ratios), WARM + rounds)]
    cycle = np.maximum(interval_s, service.batch_s(rate_per_s * interval_s, interval_s))
    cycles, services = np.empty((2, rounds, len(cycle)))
    longest = np.maximum(interval_s, 1.0) * 1e4
    for turn in range(WARM + rounds):
        rows = np.maximum(1.0, rate_per_s * cycle)
        taken_s = service.batch_s(rows, cycle) * ratios[turn]
        if turn >= WARM:
            cycles[turn - WARM], services[turn - WARM] = cycle, taken_s
        cycle = np.minimum(np.maximum(interval_s, taken_s + service.after_s(rows)), longest)
    closing = service.closing_s(np.maximum(1.0, rate_per_s * cycles))
    return Cycles(cycles, services, closing, rate_per_s * cycles)


def spread_out(count: int, wanted: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Places among `count`, each as often as any other, in an order without a pattern.

    By the golden ratio: repeatable, and smooth in whatever is computed from it.
    """
    golden = 0.6180339887498949
    return np.asarray((np.arange(wanted) * golden % 1.0 * count).astype(np.int64))


def means(least: Array, more: Array) -> Array:
    """The mean latency of each column: what arrives in a cycle is as much as the cycle is long."""
    return np.asarray((more * (least + more / 2)).sum(axis=0) / more.sum(axis=0))


def quantiles(least: Array, more: Array, share: float | Array, halvings: int = HALVINGS) -> Array:
    """A quantile of each column's latency, which is even between least and least + more."""
    low, high = least.min(axis=0), (least + more).max(axis=0)
    whole = more.sum(axis=0)
    for _ in range(halvings):
        middle = (low + high) / 2
        reached = np.minimum(np.maximum(middle - least, 0.0), more).sum(axis=0) / whole
        low, high = np.where(reached < share, middle, low), np.where(reached < share, high, middle)
    return np.asarray(high)


def steps_of(least: Array, more: Array) -> tuple[float, ...]:
    """The latency of one column at each of RANKS."""
    every = np.broadcast_to(least, (len(least), len(RANKS)))
    return tuple(quantiles(every, np.broadcast_to(more, every.shape), RANKS).tolist())


def variance(least: Array, more: Array, mean: Array) -> Array:
    """The variance of each column's latency."""
    square = more * (least**2 + least * more + more**2 / 3)
    return np.asarray(square.sum(axis=0) / more.sum(axis=0) - mean**2)


def predict_micro_batch(profile: JobProfile, candidate: Candidate, under: Load) -> Prediction:
    """Foretell the latency of a candidate in micro-batch."""
    service = Service.of(profile, [candidate])
    rate, interval = np.array([under.rate_per_s]), np.array([candidate.interval_s])
    most = float(service.most_per_s(interval)[0])
    if under.rate_per_s >= most:
        return hopeless(candidate, under, most)
    cycles = run_cycles(service, rate, interval)
    records, windows = (cycles.spans(of_windows, under.lateness_s) for of_windows in (False, True))
    mean = means(*records)
    typical = float((cycles.cycle_s**2).sum() / cycles.cycle_s.sum())  # as a record sees it
    rows = max(1.0, under.rate_per_s * typical)
    task_s = tasks_s(profile.batch, rows, candidate.store)
    batch_s = float(service.batch_s(np.array([rows]), np.array([typical]))[0])
    return Prediction(
        candidate,
        under,
        phases_of(profile, candidate, cycles, typical),
        float(mean[0]),
        float(variance(*records, mean)[0]),
        steps_of(*records),
        most,
        under.rate_per_s / most,
        max(task_s, batch_s) / rows * 1e6,
        margin_of(profile),
        float(means(*windows)[0]),
        steps_of(*windows),
    )


def phases_of(
    profile: JobProfile, candidate: Candidate, cycles: Cycles, typical_s: float
) -> dict[str, float]:
    """The mean of each phase: the wait, split where the batch before ended, and the service."""
    cycle, before = cycles.cycle_s[1:, 0], cycles.service_s[:-1, 0]
    busy = np.minimum(cycle, before)
    often = cycles.often[1:, 0]
    queue = (often * busy**2 / 2).sum() / cycle.sum()
    wait = (often * cycle**2 / 2).sum() / cycle.sum() - queue
    rows = max(1.0, float(cycles.records.sum() / cycles.cycle_s.sum()) * typical_s)
    served = phases_at(profile.batch, candidate, rows, typical_s)
    weights = cycles.cycle_s
    whole_s = float((weights * cycles.service_s).sum() / weights.sum())
    share = whole_s / max(sum(served.values()), 1e-9)
    return {"queue": float(queue), "wait": float(wait)} | {
        name: spent_s * share for name, spent_s in served.items()
    }


def margin_of(profile: JobProfile) -> float:
    """How far a prediction may be off: how much runs differ, and how sure the usual batch is."""
    ratios = np.asarray(profile.batch.ratios or (0.8, 1.2))
    spread = float(ratios.std() / max(ratios.mean(), 1e-9))
    return float((DRIFT**2 + spread**2 / max(1, len(ratios))) ** 0.5)

"""The highest rate that keeps a goal, for each candidate: an exact search (paper 1, equation 1).

Latency grows with the rate, so for one candidate the rates that keep the goal are all those up to a
highest one, which halving finds. Candidates are a grid that is tried whole, those in micro-batch
all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.flow.goals import Goal
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.model.micro_batch import margin_of as batch_margin
from headway.model.micro_batch import means, quantiles, run_cycles
from headway.model.predict import predict
from headway.model.prediction import Prediction
from headway.model.service import Array, Service

LOWEST_PER_S = 1.0
HALVINGS = 14  # to within a thousandth, from the lowest rate to saturation
STREAM_HALVINGS = 10  # to within a hundredth: each takes longer, and is less sure
ROUNDS = 120  # of the recursion; a prediction of what is chosen takes more
QUANTILE_HALVINGS = 16  # to within a fifty-thousandth: enough to compare
STABLE = 0.98  # of saturation: beyond it any latency may come


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a plan is for: a goal, how records come, and how much of the margin is kept free.

    caution  1 keeps the goal even where the truth lies at the end of the model's own interval
    """

    goal: Goal
    load: Load
    caution: float = 1.0

    def limit_s(self, margin: float) -> float:
        """The latency that may be predicted."""
        return self.goal.limit_s / (1 + self.caution * margin)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a candidate goes: the highest rate that keeps the goal, 0 where none does."""

    candidate: Candidate
    highest_per_s: float
    saturation_per_s: float


def reaches(profile: JobProfile, candidates: Sequence[Candidate], wanted: Wanted) -> list[Reach]:
    """How far each candidate goes."""
    batches = [each for each in candidates if each.mode == "micro-batch"]
    streams = [each for each in candidates if each.mode == "real-time"]
    found = batch_reaches(profile, batches, wanted) if batches else []
    return found + [stream_reach(profile, each, wanted) for each in streams]


def batch_reaches(
    profile: JobProfile, candidates: Sequence[Candidate], wanted: Wanted
) -> list[Reach]:
    """The reach of candidates in micro-batch, all of them at once."""
    service = Service.of(profile, candidates)
    intervals = np.array([each.interval_s for each in candidates])
    most, limit_s = service.most_per_s(intervals), wanted.limit_s(batch_margin(profile))
    low, high = np.zeros(len(candidates)), most * STABLE
    tried = np.minimum(LOWEST_PER_S, most / 2)
    for _ in range(HALVINGS):
        kept = latency_s(service, tried, intervals, wanted) <= limit_s
        low, high = np.where(kept, tried, low), np.where(kept, high, tried)
        tried = np.where(low > 0, np.sqrt(np.maximum(low, 1e-9) * high), tried)
    found = zip(candidates, low.tolist(), most.tolist(), strict=True)
    return [Reach(*each) for each in found]


def lowest_latency(
    profile: JobProfile, candidates: Sequence[Candidate], wanted: Wanted
) -> Prediction | None:
    """The candidate with the lowest latency at the rate of the load; None when none keeps up."""
    batches = [each for each in candidates if each.mode == "micro-batch"]
    tried = [each for each in candidates if each.mode == "real-time"]
    if batches:
        service, rate = Service.of(profile, batches), wanted.load.rate_per_s
        intervals = np.array([each.interval_s for each in batches])
        late_s = latency_s(service, np.full(len(batches), rate), intervals, wanted)
        late_s = np.where(service.most_per_s(intervals) * STABLE > rate, late_s, np.inf)
        tried.append(batches[int(late_s.argmin())])
    found = [predict(profile, each, wanted.load) for each in tried]
    return min((p for p in found if p.stable), key=lambda p: p.of(wanted.goal), default=None)


def latency_s(service: Service, rates: Array, intervals_s: Array, wanted: Wanted) -> Array:
    """The statistic of the goal for many rates and intervals."""
    windows = wanted.goal.per == "window"
    cycles = run_cycles(service, rates, intervals_s, ROUNDS)
    spans = cycles.spans(windows, wanted.load.lateness_s)
    if wanted.goal.quantile is None:
        return means(*spans)
    return quantiles(*spans, wanted.goal.quantile, QUANTILE_HALVINGS)


def stream_reach(profile: JobProfile, candidate: Candidate, wanted: Wanted) -> Reach:
    """The reach of a candidate in real-time mode."""
    low, high, tried = 0.0, 0.0, LOWEST_PER_S
    most = float("inf")
    for _ in range(STREAM_HALVINGS):
        load = Load(tried, wanted.load.variation, wanted.load.lateness_s)
        found = predict(profile, candidate, load)
        if not high:
            most = found.saturation_per_s
            high = min(most * STABLE, 1e9)
        if found.of(wanted.goal) <= wanted.limit_s(found.margin):
            low = tried
        else:
            high = tried
            if not low:
                break
        tried = float(np.sqrt(low * high))
    return Reach(candidate, low, most)

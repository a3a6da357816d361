"""The latency of records in real-time mode: what they pass through, what they queue for, pauses.

Tasks run on and records pass one by one (the architecture of paper 1). What a record spends at a
low rate was seen; a higher rate adds the wait for the task that maps and for the one that reduces
(G/G/1 on what the other threads leave of the cores, section 3.2), and each checkpoint is a vacation
of both. Waits that are set (the shuffle's buffer) are replaced by those of the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, log, log2
from statistics import median

import numpy as np
from numpy.typing import NDArray

from headway.errors import PlanError
from headway.measure.costs.fits import Fit
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stretches import PASSING, Stretch
from headway.measure.moments import Moments
from headway.model.candidate import Candidate, Load
from headway.model.micro_batch import DRIFT, spread_out
from headway.model.prediction import RANKS, Prediction, hopeless
from headway.model.queues import mean_wait_s, vacation
from headway.model.shared import cpu_s, taken_by_others

SAMPLE = 2_048
FULL = 0.9  # of a core, or of all, beyond which tasks were seen to fall behind
APART = 1.5  # times as high the highest rate must be as the lowest to tell records from polling
LEAST = 0.2  # of the load at the highest rate that records are thought to cause, at least


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks that map and those that reduce, as servers."""

    map_cpu_s: float
    reduce_cpu_s: float
    candidate: Candidate

    @property
    def saturation_per_s(self) -> float:
        """The rate at which a task, or all cores together, have no time left."""
        lanes, each = self.candidate.lanes, (self.map_cpu_s, self.reduce_cpu_s)
        tasks = (self.candidate.mappers, self.candidate.reducers)
        own = [count / cpu for count, cpu in zip(tasks, each, strict=True) if cpu]
        together = [lanes.cores / sum(each)] if sum(each) else []
        return FULL * min([*own, *together], default=float("inf"))

    def waits_s(self, under: Load) -> dict[str, float]:
        """How long a record waits for the task that maps it, and for the one that reduces it."""
        return {name: mean_wait_s(*queue) for name, queue in self.queues(under).items()}

    def queues(self, under: Load) -> dict[str, tuple[Moments, Moments]]:
        """How records come to each kind of task, and how long each is served."""
        counts = {"fetch": self.candidate.mappers, "shuffle": self.candidate.reducers}
        needed = {"fetch": self.map_cpu_s, "shuffle": self.reduce_cpu_s}
        threads = [
            under.rate_per_s * needed[name] / count
            for name, count in counts.items()
            for _ in range(count)
        ]
        found = {}
        for name, own in zip(counts, (0, len(threads) - 1), strict=True):
            taken = taken_by_others(threads, own, self.candidate.lanes.cores)
            service_s = cpu_s(needed[name], self.candidate.lanes.cores, taken)
            service = Moments(1, service_s, 2 * service_s**2, 6 * service_s**3)
            gap_s = counts[name] / under.rate_per_s
            came = Moments(1, gap_s, gap_s**2 * (1 + under.variation), 0.0)
            found[name] = (came, service)
        return found


@dataclass(frozen=True, slots=True)
class Pauses:
    """What checkpoints add to latencies: each pause that was seen is as likely as any other.

    longest_s  how long each holds records up, at most, the shortest first
    shares     the share of all records that meet it, evenly late by up to its longest
    busy       the share of the time in which tasks pause, or make a pause good
    """

    longest_s: NDArray[np.float64]
    shares: NDArray[np.float64]
    busy: float

    @property
    def share(self) -> float:
        """The share of records that meet any."""
        return float(self.shares.sum())

    @property
    def endless(self) -> bool:
        """Whether one pause comes before the last is made good."""
        return max(self.busy, self.share) >= 1

    @property
    def mean_s(self) -> float:
        """What they add on average."""
        return float((self.shares * self.longest_s).sum() / 2)

    @property
    def typical_s(self) -> float:
        """How long one of them holds records up, at most."""
        return float(np.median(self.longest_s)) if len(self.longest_s) else 0.0

    def sample(self) -> NDArray[np.float64]:
        """What they add to each latency of a sample: to most of them nothing."""
        added = np.zeros(SAMPLE)
        waiting = round(self.share * SAMPLE)
        if waiting:
            # The share that waits longer than w is the sum of s (1 - w / P) over longer pauses.
            at_s = np.append(0.0, self.longest_s)
            left = np.maximum(1 - at_s[:, None] / self.longest_s, 0.0) @ self.shares
            ranks = (np.arange(waiting) + 0.5) / waiting * self.share
            added[spread_out(SAMPLE, SAMPLE)[:waiting]] = np.interp(ranks, left[::-1], at_s[::-1])
        return added


def pauses_of(
    stretches: Sequence[Stretch], candidate: Candidate, load: float, most_per_s: float
) -> Pauses:
    """The pauses of a candidate: those that were seen, at its checkpoints and its load.

    A pause hardly depends on the rate, and differs from one checkpoint to the next: all count. As a
    vacation each holds up some share of the records; by how many times more were held up when it
    was seen, by so many times more are.
    """
    seen = sorted((each for each in stretches if each.pause_s), key=lambda each: each.pause_s)
    longest_s = np.array([each.pause_s for each in seen])
    held, fluid = np.ones((2, len(seen)))
    for place, each in enumerate(seen):
        then = vacation(each.pause_s, each.seconds, min(FULL, each.rate_per_s / most_per_s))
        if each.held_s and isfinite(then.mean_s):
            held[place], fluid[place] = each.held_s, then.mean_s
    taken = longest_s / ((1 - load) * candidate.checkpoint_s * max(1, len(seen)))
    return Pauses(longest_s, taken * held / fluid, float(taken.sum()))


def nearest(profile: JobProfile, candidate: Candidate, rate_per_s: float) -> list[Stretch]:
    """The stretches most like what is asked about, a third of all, the oldest first.

    Alike in their rate, and in the time between checkpoints: tasks are slow for a while after each.
    """
    known = profile.stream.stretches
    apart = [
        abs(log(each.rate_per_s / rate_per_s)) + abs(log(each.seconds / candidate.checkpoint_s))
        for each in known
    ]
    near = sorted(range(len(known)), key=lambda place: apart[place])[: max(1, len(known) // 3)]
    return [known[place] for place in sorted(near)]


def tasks_of(profile: JobProfile, candidate: Candidate) -> Tasks:
    """What a record costs the tasks, apart from the polling that they do anyway."""
    counted = tuple(
        (each.rate_per_s, each.seconds, each.map_cpu_s, each.reduce_cpu_s)
        for each in profile.stream.stretches
        if each.map_cpu_s > 0
    )
    if not counted:
        raise PlanError(
            "the profile does not tell what a record costs the tasks in real-time mode: Spark no "
            "longer knew the stages when it was asked. Run the flow there for some checkpoints more"
        )
    return Tasks(marginal_s(counted, 2), marginal_s(counted, 3), candidate)


@lru_cache(maxsize=64)  # a plan asks for it hundreds of times
def marginal_s(counted: tuple[tuple[float, ...], ...], place: int) -> float:
    """By how much one record a second more loads a task: the slope of its load over the rate.

    A task polls whether records come or not, so the load at a low rate is mostly that. Where one
    rate alone was seen, all of it counts: more than the truth, which is the safe side. Of each
    stretch its rate, its seconds, and at `place` what a record cost.
    """
    most = float(max(counted)[place])
    each_s = over_rates([(each[0], each[1], each[0] * each[place]) for each in counted])
    return most if each_s is None else min(most, max(each_s, LEAST * most))


def over_rates(points: Sequence[tuple[float, float, float]]) -> float | None:
    """The slope of values over rates, or None if no two rates that were seen are far apart.

    Of each point its rate, for how many seconds it was seen, and its value.
    """
    rates = [rate for rate, _, _ in points]
    if max(rates) < APART * min(rates):
        return None
    fit = Fit()
    for rate, seconds, value in points:
        fit = fit.seen(rate, value, seconds)
    return fit.line[1]


def predict_real_time(profile: JobProfile, candidate: Candidate, under: Load) -> Prediction:
    """Foretell the latency of a candidate in real-time mode."""
    tasks = tasks_of(profile, candidate)
    most = tasks.saturation_per_s
    if under.rate_per_s >= most:
        return hopeless(candidate, under, most)
    near = nearest(profile, candidate, under.rate_per_s)
    load = under.rate_per_s / most
    pauses = pauses_of(profile.stream.stretches, candidate, load, most)
    if pauses.endless:
        return hopeless(candidate, under, most)
    passing, more_s = passing_s(profile.stream.stretches, near, tasks, under)
    sample = sample_of(near, passing, more_s) + pauses.sample()
    passing |= {"shuffle": passing["shuffle"] + more_s / 2}
    steps = np.interp(RANKS * (SAMPLE - 1), np.arange(SAMPLE), np.sort(sample))
    phases = {"pause": pauses.mean_s} | passing
    return Prediction(
        candidate,
        under,
        phases,
        sum(phases.values()),
        float(sample.var()),
        tuple(float(step) for step in steps),
        most,
        load,
        (tasks.map_cpu_s + tasks.reduce_cpu_s) * 1e6,
        margin_of(profile),
        *windows_of(candidate, pauses, under),
    )


def passing_s(
    known: Sequence[Stretch], near: list[Stretch], tasks: Tasks, under: Load
) -> tuple[dict[str, float], float]:
    """The mean of each phase at the rate of the load, with the waits for others that were set then.

    From that at rates like it, and by how much more it is at each rate that was seen: with the rate
    everything on the machine has more to do. That is at least what the queues of our tasks add.
    Beside it by how much longer the candidate lets a record wait for others, at most.
    """
    seen = {name: median_of(near, name) for name in PASSING}
    then = Load(median([each.rate_per_s for each in near]), under.variation)
    now_s, then_s = tasks.waits_s(under), tasks.waits_s(then)
    for name in seen:
        queued_s = now_s.get(name, 0.0) - then_s.get(name, 0.0)
        slower_s = slope_of(known, name) * (under.rate_per_s - then.rate_per_s)
        added_s = max((slower_s, queued_s if isfinite(queued_s) else 0.0), key=abs)
        seen[name] = max(0.0, seen[name] + added_s)
    more_s = tasks.candidate.shuffle_wait_s - median([each.shuffle_wait_s for each in near])
    if more_s < 0:  # part of what was seen
        seen["shuffle"] = max(0.0, seen["shuffle"] + more_s / 2)
    return seen, max(0.0, more_s)


def slope_of(known: Sequence[Stretch], name: str) -> float:
    """By how much a phase takes longer for each record a second more."""
    return slope(tuple((e.rate_per_s, e.seconds, e.phases_s.get(name, 0.0)) for e in known))


@lru_cache(maxsize=64)  # a plan asks for it hundreds of times
def slope(points: tuple[tuple[float, float, float], ...]) -> float:
    """The slope of times over rates; of each point its rate, its seconds and its time.

    Of stretches with about as much time between checkpoints, for tasks are slow after each.
    """
    groups: dict[int, list[tuple[float, float, float]]] = {}
    for each in points:
        groups.setdefault(round(log2(each[1])), []).append(each)
    slopes = (over_rates(some) for some in groups.values())
    found = [each_s for each_s in slopes if each_s is not None]
    return median(found) if found else 0.0


def median_of(near: list[Stretch], name: str) -> float:
    """The typical mean time in a phase."""
    return median([each.phases_s.get(name, 0.0) for each in near])


def sample_of(near: list[Stretch], passing: dict[str, float], more_s: float) -> NDArray[np.float64]:
    """Latencies without pauses: each phase drawn from the shape it had, scaled to its mean.

    A wait for others that is longer by so much adds anything up to that, and no tail: who comes
    first waits for all of it, and who comes last not at all.
    """
    whole = more_s * (shuffled(len(passing)) + 0.5) / SAMPLE
    for place, (name, mean_s) in enumerate(passing.items()):
        shapes = [steps for each in near if len(steps := each.steps_s.get(name, ())) == len(RANKS)]
        # Of an even number the later one in the middle: a shape that was seen, not a mixture.
        shape = sorted(shapes, key=sum)[len(shapes) // 2] if shapes else ()
        if not sum(shape):
            whole += mean_s
            continue
        whole += drawn(place, tuple(shape)) * mean_s
    return whole


@lru_cache(maxsize=64)
def drawn(place: int, shape: tuple[float, ...]) -> NDArray[np.float64]:
    """Times of a phase with a shape that was seen, 1 on average; a plan asks for few of them."""
    found = np.interp((shuffled(place) + 0.5) / SAMPLE, RANKS, shape)
    return np.asarray(found / max(float(found.mean()), 1e-12))


@lru_cache(maxsize=16)
def shuffled(place: int) -> NDArray[np.int64]:
    """All ranks, in an order of their own for each phase: phases are independent (section 3.2)."""
    return np.random.default_rng(place).permutation(SAMPLE)


def windows_of(
    candidate: Candidate, pauses: Pauses, under: Load
) -> tuple[float, tuple[float, ...]]:
    """The latency of final answers of windows, which are told at the end of a stretch."""
    least_s = pauses.typical_s + under.lateness_s
    steps = tuple(float(least_s + candidate.checkpoint_s * rank) for rank in RANKS)
    return least_s + candidate.checkpoint_s / 2, steps


def margin_of(profile: JobProfile) -> float:
    """How far a prediction may be off: stretches of one rate differ, and so do runs."""
    totals = [sum(each.phases_s.values()) for each in profile.stream.stretches]
    spread = float(np.std(totals) / max(float(np.mean(totals)), 1e-9)) if len(totals) > 1 else 0.5
    return float((DRIFT**2 + spread**2 / len(totals)) ** 0.5)

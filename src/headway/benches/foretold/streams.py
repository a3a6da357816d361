"""Settings of real-time mode, measured by a consumer outside Spark and foretold from two rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from headway.benches.outside.outsider import Jobs, Watched, late_at, lines_of, watch
from headway.clock import SystemClock
from headway.keep.loop import load_of
from headway.measure.batches import BatchLine
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile, profile_of
from headway.model.candidate import Candidate
from headway.model.predict import predict
from headway.plan.modes import RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

# For minutes a new job gets faster, its pauses above all, and Java needs many records for that.
WARM_S, QUICKER_WARM_S, WARM_PER_S = 150.0, 80.0, 8_000.0
SKIPPED_S = 2.0  # of each rate, for what the one before has left
PAUSE_S = 0.15  # by how much longer than its checkpoint interval a cycle takes
CHANGE_S, SETTLED_S = 6.0, 12.0  # how long other knobs take, after a checkpoint, and to settle
ROUNDS = 2  # what is learned from and what is foretold take turns: both have the host's weather
LEAST_S, LEARNED_S = 20.0, 30.0  # of each rate in a round, about, in whole cycles
PLAIN = RealTime(checkpoint_s=10.0)
RARER = RealTime(checkpoint_s=45.0)
SLOWER = replace(RARER, shuffle_wait_s=0.02)
# The rates that a profile is made at, far enough apart to tell what the rate adds.
LEARNED = (1_000.0, 4_000.0)
# A job gets faster all the while: what is learned from has its turns around what is foretold. Where
# checkpoints are rare two of them are in a row, for a stretch may reach from one into the next.
OFTEN = (PLAIN, (1_000.0, 500.0, 4_000.0, 8_000.0, 4_000.0, 2_000.0, 1_000.0))
SELDOM = (RARER, (1_000.0, 4_000.0, 500.0, 8_000.0, 2_000.0, 4_000.0, 1_000.0))
WAITING = (SLOWER, (2_000.0, 8_000.0))
LANES = Lanes(cores=2, reducers=1)
# The mean and the p99, in seconds, that are foretold of a candidate at a rate.
Foretell = Callable[[JobProfile, Candidate, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A while at one rate, with some knobs; only some of them are looked at."""

    knobs: RealTime
    rate_per_s: float
    seconds: float
    begun_s: float
    looked_at: bool = True

    @property
    def learned(self) -> bool:
        """Whether a profile is made of it."""
        return self.looked_at and self.knobs != SLOWER and self.rate_per_s in LEARNED

    @property
    def ended_s(self) -> float:
        """When the next one begins."""
        return self.begun_s + self.seconds


def turns(full: bool) -> list[Turn]:
    """All of a run: rounds of the same rates, and where it is whole other knobs in between.

    All of them in one job, since Java makes a new one ever faster for minutes, its pauses above
    all; the knobs are changed while it runs.
    """
    found: list[Turn] = []

    def add(knobs: RealTime, rate: float, seconds: float, looked_at: bool = True) -> None:
        begun_s = found[-1].ended_s if found else 0.0
        found.append(Turn(knobs, rate, seconds, begun_s, looked_at))

    add(PLAIN, WARM_PER_S, WARM_S if full else QUICKER_WARM_S, looked_at=False)
    for knobs, rates in (OFTEN, SELDOM, WAITING) * ROUNDS if full else (OFTEN,):
        before = found[-1].knobs
        if knobs != before:
            add(knobs, LEARNED[0], before.checkpoint_s + CHANGE_S + SETTLED_S, looked_at=False)
        for rate in rates:
            about_s = LEARNED_S if rate in LEARNED else LEAST_S
            cycles_s = whole_cycles_s(knobs.checkpoint_s + PAUSE_S, about_s)
            add(knobs, rate, SKIPPED_S + cycles_s)
    return found


def whole_cycles_s(cycle_s: float, about_s: float) -> float:
    """About so long, but whole cycles, so that each measurement has as many pauses as its share.

    >>> whole_cycles_s(10.0, 28.0), whole_cycles_s(60.0, 25.0)
    (30.0, 60.0)
    """
    return cycle_s * max(1, round(about_s / cycle_s))


def measure_streams(place: Path, full: bool, foretell: Foretell) -> list[dict[str, Any]]:
    """Every setting as the fields of a comparison, with what `foretell` says of it."""
    every = turns(full)
    with Broker() as broker:
        job = Jobs(broker, place).make(knobs=PLAIN)
        schedule = [(f"{each.seconds:g}s", each.rate_per_s) for each in every]
        watched = watch(job, Keyed(keys=1_000), schedule, every[-1].ended_s, changing(every))
        profile = profile_at(lines_of(job), watched.began_us / 1e6, every)
    return compared(profile, every, watched, foretell)


def changing(every: Sequence[Turn]) -> Callable[[Any, int], None]:
    """What is done while records come in: each turn gets its knobs when it begins."""

    def orders(channel: Any, begin_us: int) -> None:
        clock = SystemClock()
        for before, each in pairwise(every):
            if each.knobs != before.knobs:
                clock.sleep(max(0.0, begin_us / 1e6 + each.begun_s - clock.now_us() / 1e6))
                channel.send(("real-time", each.knobs))
                channel.recv()

    return orders


def profile_at(lines: list[BatchLine], begun_s: float, every: Sequence[Turn]) -> JobProfile:
    """What the turns at the rates to learn from teach, and none of the others.

    A checkpoint is where it is, so of two such turns in a row one stretch may have records of both.
    """
    spans: list[tuple[float, float]] = []
    for each in every:
        if each.learned:
            joined = bool(spans) and spans[-1][1] == each.begun_s
            begins_s = spans.pop()[0] if joined else each.begun_s
            spans.append((begins_s, each.ended_s))
    own = [
        line
        for line in lines
        for first_s, last_s in spans
        if first_s <= line.started_s - begun_s and line.published_s - begun_s <= last_s
    ]
    return profile_of(own, "count", "real-time", LANES)


def modelled(profile: JobProfile, candidate: Candidate, rate_per_s: float) -> tuple[float, float]:
    """What the model says."""
    found = predict(profile, candidate, load_of(profile, rate_per_s))
    return found.mean_s, found.quantile_s(0.99)


def compared(
    profile: JobProfile, every: Sequence[Turn], watched: Watched, foretell: Foretell
) -> list[dict[str, Any]]:
    """The settings that the profile has not seen, each of them foretold, and measured in rounds."""
    settings: dict[tuple[RealTime, float], list[Turn]] = {}
    for each in every:
        if each.looked_at and not each.learned:
            settings.setdefault((each.knobs, each.rate_per_s), []).append(each)
    found = []
    for (knobs, rate), own in settings.items():
        late_s = np.concatenate([late_in(watched, each) for each in own])
        candidate = Candidate(
            "real-time", 1, LANES.cores, 1, 1, checkpoint_s=knobs.checkpoint_s,
            shuffle_wait_s=knobs.shuffle_wait_s,
        )  # fmt: skip
        mean_s, p99_s = foretell(profile, candidate, rate)
        wait_ms = knobs.shuffle_wait_s * 1e3
        found.append(
            {
                "workload": "count",
                "mode": "real-time",
                "setting": f"checkpoint {knobs.checkpoint_s:g} s, wait {wait_ms:g} ms",
                "rate_per_s": rate,
                "predicted": {"mean_s": round(mean_s, 5), "p99_s": round(p99_s, 5)},
                "measured": {
                    "mean_s": round(float(late_s.mean()), 5),
                    "p99_s": round(float(late_at(late_s, [0.99])[0]), 5),
                },
            }
        )
    return found


def late_in(watched: Watched, each: Turn) -> np.ndarray[Any, np.dtype[np.float64]]:
    """How late the records of a turn were; one never answered is later than any."""
    due = (watched.due_s >= each.begun_s + SKIPPED_S) & (watched.due_s < each.ended_s)
    return np.asarray(np.nan_to_num(watched.late_s[due], nan=np.inf))

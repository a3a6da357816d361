"""Settings of real-time mode, measured by a consumer outside Spark and foretold from two rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from headway.benches.outside.outsider import Jobs, Watched, late_at, lines_of, watch
from headway.keep.loop import load_of
from headway.measure.batches import BatchLine
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile, profile_of
from headway.model.candidate import Candidate
from headway.model.predict import predict
from headway.plan.modes import RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

WARM_S, WARM_PER_S, SKIPPED_S = 50.0, 4_000.0, 4.0  # Java learns from many records
MEASURED_S = 40.0  # of each rate, about
PAUSES = 5  # that a new job has made before it is measured, at least: they take ever less time
PAUSE_S = 0.2  # by how much longer than its checkpoint interval a cycle takes
CHECKPOINT_S = 10.0
LEARNED = (1_000.0, 2_000.0)  # the rates that a profile is made at
# What is foretold is measured in between, so that both have the same minutes of the host's.
RATES = (1_000.0, 500.0, 2_000.0, 4_000.0, 8_000.0)
SLACK_S = 0.5
LANES = Lanes(cores=2, reducers=1)
# The mean and the p99, in seconds, that are foretold of a candidate at a rate.
Foretell = Callable[[JobProfile, Candidate, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Stream:
    """A job in real-time mode, and the rates at which it is measured."""

    name: str
    knobs: RealTime
    rates: tuple[float, ...]
    stateful: bool = True
    window: str | None = None

    @property
    def warm_s(self) -> float:
        """How long it warms up: its first checkpoints take many times what others do."""
        return max(WARM_S, PAUSES * (self.knobs.checkpoint_s + PAUSE_S) + SLACK_S)

    @property
    def step_s(self) -> float:
        """How long each rate is held: as many whole cycles as any other, after what is skipped."""
        return SKIPPED_S + whole_cycles_s(self.knobs.checkpoint_s + PAUSE_S, MEASURED_S)


def whole_cycles_s(cycle_s: float, about_s: float) -> float:
    """About so long, but whole cycles, so that each measurement has as many pauses as its share.

    >>> whole_cycles_s(10.0, 28.0), whole_cycles_s(60.0, 25.0)
    (30.0, 60.0)
    """
    return cycle_s * max(1, round(about_s / cycle_s))


PLAIN = RealTime(checkpoint_s=CHECKPOINT_S)
SLOWER = replace(PLAIN, shuffle_wait_s=0.02)


def measure_streams(place: Path, full: bool, foretell: Foretell) -> list[dict[str, Any]]:
    """Every setting as the fields of a comparison, with what `foretell` says of it."""
    learning = Stream("count", PLAIN, RATES)
    others = [
        Stream("count", SLOWER, (1_000.0, 4_000.0)),
        Stream("count", replace(PLAIN, checkpoint_s=20.0), (1_000.0, 4_000.0)),
        Stream("count", replace(PLAIN, checkpoint_s=40.0), (500.0, 4_000.0)),
    ]
    found: list[dict[str, Any]] = []
    with Broker() as broker:
        jobs = Jobs(broker, place)
        watched, lines = run_stream(jobs, learning)
        profile = profile_at(lines, watched, learning)
        found += compared(profile, learning, watched, foretell)
        for other in others if full else []:
            watched, _ = run_stream(jobs, other)
            found += compared(profile, other, watched, foretell)
    return found


def run_stream(jobs: Jobs, stream: Stream) -> tuple[Watched, list[BatchLine]]:
    """Run a job under its rates, one after the other."""
    job = jobs.make(knobs=stream.knobs, stateful=stream.stateful, window=stream.window)
    schedule = [(f"{stream.warm_s:g}s", WARM_PER_S)]
    schedule += [(f"{stream.step_s:g}s", rate) for rate in stream.rates]
    seconds = stream.warm_s + stream.step_s * len(stream.rates)
    return watch(job, Keyed(keys=1_000), schedule, seconds), lines_of(job)


def profile_at(lines: list[BatchLine], watched: Watched, stream: Stream) -> JobProfile:
    """What the stretches at the rates to learn from teach, and none of the others."""
    own = []
    for place, rate in enumerate(stream.rates):
        begun_s = watched.began_us / 1e6 + stream.warm_s + stream.step_s * place
        inside = (begun_s, begun_s + stream.step_s + SLACK_S)
        if rate in LEARNED:
            own += [
                line
                for line in lines
                if inside[0] <= line.started_s and line.published_s <= inside[1]
            ]
    return profile_of(own, stream.name, "real-time", LANES)


def modelled(profile: JobProfile, candidate: Candidate, rate_per_s: float) -> tuple[float, float]:
    """What the model says."""
    found = predict(profile, candidate, load_of(profile, rate_per_s))
    return found.mean_s, found.quantile_s(0.99)


def compared(
    profile: JobProfile, stream: Stream, watched: Watched, foretell: Foretell
) -> list[dict[str, Any]]:
    """The rates that the profile has not seen, foretold and measured."""
    found = []
    for place, rate in enumerate(stream.rates):
        if rate in LEARNED and stream.knobs == PLAIN:
            continue
        begun = stream.warm_s + stream.step_s * place
        due = (watched.due_s >= begun + SKIPPED_S) & (watched.due_s < begun + stream.step_s)
        late_s = np.nan_to_num(watched.late_s[due], nan=np.inf)
        candidate = Candidate(
            "real-time", 1, LANES.cores, 1, 1, checkpoint_s=stream.knobs.checkpoint_s,
            shuffle_wait_s=stream.knobs.shuffle_wait_s,
        )  # fmt: skip
        mean_s, p99_s = foretell(profile, candidate, rate)
        found.append(
            {
                "workload": stream.name,
                "mode": "real-time",
                "setting": f"checkpoint {stream.knobs.checkpoint_s:g} s, "
                f"wait {stream.knobs.shuffle_wait_s * 1e3:g} ms",
                "rate_per_s": rate,
                "predicted": {"mean_s": round(mean_s, 5), "p99_s": round(p99_s, 5)},
                # What was never answered is later than any, so that a setting fell behind shows.
                "measured": {
                    "mean_s": round(float(late_s.mean()), 5),
                    "p99_s": round(float(late_at(late_s, [0.99])[0]), 5),
                },
            }
        )
    return found

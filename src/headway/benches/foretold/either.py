"""Plans for a flow from Kafka to Kafka, the mode being the planner's choice, and what came."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.benches.foretold.streams import whole_cycles_s
from headway.benches.options import Bar
from headway.benches.outside.outsider import Jobs, late_at, watch
from headway.engine.spark.learning.profiling import profile_flow
from headway.engine.spark.learning.trial import Trial
from headway.engine.spark.realtime.needs import wanted_session
from headway.engine.spark.session import open_session
from headway.engine.spark.settings import Settings
from headway.engine.stock.realtime import CountJob, flow_of
from headway.flow.goals import Goal, parse_goal
from headway.keep.loop import load_of
from headway.keep.pacing import Pace
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate
from headway.plan.modes import MODES, RealTime
from headway.plan.planner import make_plan
from headway.plan.search import Wanted
from headway.plan.space import space_of
from headway.testing.broker import Broker
from headway.testing.feeder import Feed, feed
from headway.units import finite
from headway.workloads.makers.keyed import Keyed

CELLS = (
    ("p99 <= 3ms", 1_000.0),
    ("p99 <= 150ms", 1_000.0),
    ("p99 <= 150ms", 4_000.0),
    ("p99 <= 1500ms", 10_000.0),
    ("p99 <= 2s", 40_000.0),
    ("p99 <= 150ms", 120_000.0),
)
PROFILED_S, SAMPLED = 160.0, 5_000
WARM_S, MEASURED_S = 30.0, 25.0
PAUSE_S = 0.3  # by how much longer than its checkpoint interval a cycle takes, at most
LONGEST_S = 60.0  # cycles that are longer have pauses so rare that no p99 sees them
KEYS = 1_000
SLOTS = 4


@dataclass(frozen=True, slots=True)
class Either:
    """A cell: a goal at a rate, and how the planner would keep it; None if it says it cannot."""

    goal: Goal
    rate_per_s: float
    chosen: Candidate | None


def judge_either(bar: Bar) -> dict[str, Any]:
    """Profile the flow in both modes, plan each cell, and run what was planned.

    Where the planner says that a goal cannot be kept, real-time mode is run: if any setting could
    keep a limit of milliseconds, it would be that one.
    """
    with Broker() as broker, TemporaryDirectory(prefix="headway-bench-") as place:
        profile = profiled(broker, Path(place))
        bar.advance(note="kafka profiled")
        cells, jobs = [], Jobs(broker, Path(place) / "cells")
        for text, rate in CELLS:
            cell = Either(parse_goal(text), rate, planned(profile, parse_goal(text), rate))
            job = job_of(jobs, cell)
            cells.append(cell_figures(cell, late_s(job, rate, cell.goal)))
            bar.advance(note=f"{text} at {rate:,.0f}/s")
    return {"goal": "mode free", "cells": cells, "measured": [], "highest": {}}


def profiled(broker: Broker, place: Path) -> JobProfile:
    """A profile as `headway profile` makes it."""
    broker.create("sampled", "sampled-out")
    feed(Feed(Keyed(keys=KEYS), "sampled", broker.at, None, SAMPLED, "key"))
    job = CountJob(broker.address, "sampled", "sampled-out", place)
    flow = flow_of(job)
    # The same slots as the jobs that are run afterwards.
    settings = Settings(master=f"local[{SLOTS}]", spark={"spark.sql.shuffle.partitions": "1"})
    session = open_session(*wanted_session(flow, settings))
    try:
        return profile_flow(flow, Trial(PROFILED_S, settings, place / "profile"))
    finally:
        session.stop()


def planned(profile: JobProfile, goal: Goal, rate_per_s: float) -> Candidate | None:
    """What the planner chooses."""
    space = space_of(profile, MODES, profile.lanes.cores, profile.lanes.reducers)
    found = make_plan(space, Wanted(goal, load_of(profile, rate_per_s)), 1, rate_per_s).chosen
    return found.candidate if found is not None else None


def job_of(jobs: Jobs, cell: Either) -> CountJob:
    """The job that runs a cell as it was planned, or in real-time mode where none was."""
    job = jobs.make(slots=SLOTS)
    chosen = cell.chosen
    if chosen is None:
        return job
    if chosen.mode == "micro-batch":
        pace = Pace(interval_s=chosen.interval_s, readers=chosen.mappers)
        return replace(job, mode="micro-batch", pace=pace, store=chosen.store)
    waits = RealTime(checkpoint_s=chosen.checkpoint_s, shuffle_wait_s=chosen.shuffle_wait_s)
    return replace(job, knobs=waits)


def late_s(job: CountJob, rate_per_s: float, goal: Goal) -> float:
    """The value of a goal's statistic, seen from outside; endless where answers are missing."""
    whole_s = MEASURED_S
    if job.mode == "real-time" and job.knobs.checkpoint_s <= LONGEST_S:
        whole_s = whole_cycles_s(job.knobs.checkpoint_s + PAUSE_S, MEASURED_S)
    watched = watch(job, Keyed(keys=KEYS), rate_per_s, WARM_S + whole_s)
    return value_of(watched.late_s[watched.due_s >= WARM_S], goal)


def value_of(late_s: NDArray[np.float64], goal: Goal) -> float:
    """A statistic of latencies; an answer that never came is later than any.

    >>> value_of(np.array([1.0, 2.0, np.nan]), parse_goal("p50 <= 1s"))
    2.0
    >>> value_of(np.array([1.0, np.nan]), parse_goal("mean <= 1s"))
    inf
    """
    if goal.quantile is None:
        return float(np.nan_to_num(late_s, nan=np.inf).mean())
    return float(late_at(late_s, [goal.quantile])[0])


def cell_figures(cell: Either, value_s: float) -> dict[str, Any]:
    """A cell by name, as the others are told."""
    met = cell.goal.met_by(value_s)
    return {
        "goal": str(cell.goal),
        "rate_per_s": cell.rate_per_s,
        "planned": str(cell.chosen) if cell.chosen else None,
        "measured_s": finite(value_s),
        "met": met if cell.chosen else False,
        "best_of_sweep_s": finite(value_s),
        "possible": met,
    }

"""The first plan for a goal against an exhaustive sweep: is it met, how much more was possible?"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headway.benches.foretold.either import CELLS as CELLS_EITHER
from headway.benches.foretold.either import judge_either
from headway.benches.foretold.figures import validity
from headway.benches.foretold.learned import CORES, PROFILED, workbenches
from headway.benches.foretold.thumb import (
    GOALS,
    LEARNED_S,
    gently,
    planned,
    promise,
    row_of,
    value_of,
)
from headway.benches.foretold.workbench import Measured, Setting, Step, Workbench
from headway.benches.options import BenchOptions, progress
from headway.flow.goals import Goal, parse_goal
from headway.measure.costs.profile import JobProfile
from headway.units import finite

SENTENCE = "Goals met by the first plan, and its rate against an exhaustive sweep of settings."
INTERVALS_S = (0.0, 0.3, 0.6, 1.0)
TIMES = (2.0, 8.0, 16.0, 32.0)  # of the profiled rate
LIMITS = (0.5, 0.75, 1.0, 1.5)  # of the workload's own goal
AROUND = (0.8, 0.9, 1.0)  # of the rate that a plan promises
BEYOND = (1.15,)  # of it, where others may still keep the goal
CELLS = 6  # of each workload in a run that is not whole
STEP_S, SWEPT_S, WARM_S = 6.0, 5.0, 2.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A goal at a rate, and what the planner says to it."""

    goal: Goal
    rate_per_s: float
    setting: Setting | None


def run(options: BenchOptions) -> dict[str, Any]:
    """Sweep each workload, plan for cells of goals and rates, and run what was planned."""
    names = ["words"] if options.quick else (list(GOALS) if options.full else ["words", "sessions"])
    found: dict[str, Any] = {}
    more = 1 + len(CELLS_EITHER) if options.full else 0
    with progress(len(names) * 3 + more, "steps") as bar:
        for name, bench in workbenches(names):
            sweep = swept(name, bench, options)
            bar.advance(note=f"{name} swept")
            profile = bench.profile(20.0 if options.quick else LEARNED_S)
            bar.advance(note=f"{name} profiled")
            found[name] = judged(name, profile, bench, sweep, options)
            bar.advance(note=f"{name} measured")
        if options.full:
            found["kafka"] = judge_either(bar)
    figures = figures_of(found) | {"seed": options.seed}
    options.keep("plan", figures)
    for name in names:
        (options.report / f"plan-{name}.svg").write_text(validity(found[name]))
    return figures


def swept(name: str, bench: Workbench, options: BenchOptions) -> list[Measured]:
    """Every interval at every rate. A JVM gets faster for minutes, so the sweep comes first: what
    is then profiled and planned has a warm one, too."""
    intervals = INTERVALS_S[1:] if options.quick else INTERVALS_S
    times = TIMES[:2] if options.quick else TIMES
    grid = [Setting(PROFILED[name] * t, every, CORES) for t in times for every in intervals]
    return bench.measure([Step(each, SWEPT_S, WARM_S) for each in sorted(grid, key=gently)])


def judged(
    name: str, profile: JobProfile, bench: Workbench, sweep: list[Measured], options: BenchOptions
) -> dict[str, Any]:
    """One workload: its cells, and the highest rates of the plan and of the sweep."""
    goal, cells = parse_goal(GOALS[name]), cells_of(name, profile, options)
    plan = promised_by(profile, goal, PROFILED[name] * TIMES[-1])
    again = rivals_of(goal, plan, sweep)
    wanted = [cell.setting for cell in cells if cell.setting is not None]
    settings = dict.fromkeys([*again, *plan.settings, *wanted])  # each once
    steps = [Step(each, STEP_S, WARM_S) for each in sorted(settings, key=gently)]
    later = bench.measure(steps)
    anyones = [*sweep, *later]
    return {
        "goal": GOALS[name],
        "measured": [
            row_of(each.setting, value_of(goal, each))
            | {"kept": goal.met_by(value_of(goal, each)), "planned": each.setting in plan.settings}
            for each in anyones
        ],
        "cells": [cell_figures(cell, anyones, later) for cell in cells],
        "highest": highest(goal, anyones, plan),
    }


@dataclass(frozen=True, slots=True)
class Promised:
    """What a plan says about its highest rate: how to run, and settings to hold it to."""

    per_s: float = 0.0
    way: Setting | None = None
    settings: tuple[Setting, ...] = ()

    def at(self, rate_per_s: float) -> list[Setting]:
        """The plan's way at another rate."""
        return [replace(self.way, rate_per_s=rate_per_s)] if self.way else []


def promised_by(profile: JobProfile, goal: Goal, top: float) -> Promised:
    """The plan for a goal, at what it promises and a little less; nothing above `top` is tried."""
    most, chosen = promise(profile, goal)
    if chosen is None:
        return Promised()
    way = Setting(min(top, round(most)), chosen.interval_s, chosen.mappers)
    shares = sorted({min(top, round(most * share)) for share in AROUND})
    return Promised(round(most), way, tuple(replace(way, rate_per_s=rate) for rate in shares))


def rivals_of(goal: Goal, plan: Promised, sweep: list[Measured]) -> list[Setting]:
    """What may carry more than the plan, in a JVM as warm as the plan's: the best of the sweep
    once more, and quick batches a little above the plan's rate, each beside the plan's own way."""
    top = max((each.setting.rate_per_s for each in sweep), default=0.0)
    kept = [each.setting for each in sweep if goal.met_by(value_of(goal, each))]
    best = max((setting.rate_per_s for setting in kept), default=0.0)
    above = min((s.setting.rate_per_s for s in sweep if s.setting.rate_per_s > best), default=best)
    rates = {best, above, *(min(top, round(plan.per_s * share)) for share in BEYOND)} - {0.0}
    found = [Setting(rate, every, CORES) for rate in rates for every in INTERVALS_S[:2]]
    return found + [setting for rate in rates for setting in plan.at(rate)]


def cells_of(name: str, profile: JobProfile, options: BenchOptions) -> list[Cell]:
    """Goals and rates, all or some by chance, each with its plan."""
    base, chance = parse_goal(GOALS[name]), random.Random(options.seed)
    every = [
        (Goal(base.quantile, base.limit_s * share, base.per), PROFILED[name] * times)
        for share in LIMITS
        for times in TIMES
    ]
    picked = every[::2] if options.full else chance.sample(every, 2 if options.quick else CELLS)
    return [Cell(goal, rate, planned(profile, goal, rate)) for goal, rate in picked]


def cell_figures(cell: Cell, anyones: list[Measured], later: list[Measured]) -> dict[str, Any]:
    """A cell by name: what was planned, what came, and whether any setting would have kept it."""
    at_rate = [
        value_of(cell.goal, each) for each in anyones if each.setting.rate_per_s == cell.rate_per_s
    ]
    own = [value_of(cell.goal, each) for each in later if each.setting == cell.setting][:1]
    best = min(at_rate, default=float("inf"))
    met = bool(own) and cell.goal.met_by(own[0])
    return {
        "goal": str(cell.goal),
        "rate_per_s": cell.rate_per_s,
        "planned": cell.setting.text if cell.setting else None,
        "measured_s": finite(own[0]) if own else None,
        "met": met,
        "best_of_sweep_s": finite(best),
        "possible": cell.goal.met_by(best),
    }


def highest(goal: Goal, seen: list[Measured], plan: Promised) -> dict[str, float]:
    """The highest rates at which the goal was kept: as promised, by the plan's way, and by any."""
    kept = [each.setting for each in seen if goal.met_by(value_of(goal, each))]
    return {
        "promised_per_s": plan.per_s,
        "plan_per_s": max((s.rate_per_s for s in kept if s in plan.settings), default=0.0),
        "way_per_s": max((s.rate_per_s for s in kept if s in plan.at(s.rate_per_s)), default=0.0),
        "sweep_per_s": max((s.rate_per_s for s in kept), default=0.0),
    }


def figures_of(found: dict[str, Any]) -> dict[str, Any]:
    """The figures by name."""
    cells = [cell for each in found.values() for cell in each["cells"]]
    planned_cells = [cell for cell in cells if cell["planned"] is not None]
    refused = [cell for cell in cells if cell["planned"] is None]
    return {
        "cells": len(cells),
        "met_first_time": share([cell["met"] for cell in planned_cells]),
        "rate_vs_exhaustive": ratio_of("plan_per_s", found),
        "way_vs_exhaustive": ratio_of("way_per_s", found),
        "infeasible_right": share([not cell["possible"] for cell in refused]),
        "refused": len(refused),
        "workloads": found,
    }


def ratio_of(name: str, found: dict[str, Any]) -> float | None:
    """A highest rate as a share of the sweep's, over all workloads that keep their goal at all."""
    ratios = [
        each["highest"][name] / each["highest"]["sweep_per_s"]
        for each in found.values()
        if each["highest"].get("sweep_per_s")
    ]
    return round(float(np.median(ratios)), 3) if ratios else None


def share(yes: list[bool]) -> float | None:
    """How many of them are true; None when there are none."""
    return round(sum(yes) / len(yes), 4) if yes else None

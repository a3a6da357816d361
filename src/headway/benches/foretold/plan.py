"""The first plan for a goal against an exhaustive sweep: is it met, how much more was possible?

States rest in either store in the sweep, as the plan may choose; figures name the store of each. A
run that is not whole has some cells of one workload, drawn by chance.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headway.benches.foretold.either import CELLS as CELLS_EITHER
from headway.benches.foretold.either import judge_either
from headway.benches.foretold.figures import validity
from headway.benches.foretold.learned import PROFILED, workbenches
from headway.benches.foretold.steps import Setting
from headway.benches.foretold.thumb import (
    GOALS,
    drawn,
    floor_s,
    gently,
    planned,
    promise,
    row_of,
    setting_of,
    step_of,
    value_of,
)
from headway.benches.foretold.workbench import Measured, Workbench
from headway.benches.options import BenchOptions, progress
from headway.flow.goals import Goal, parse_goal
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stores import STORES, Store
from headway.units import finite

SENTENCE = "Goals met by the first plan, and its rate against an exhaustive sweep of settings."
# The ways that are swept: the time between batches, how many tasks read, where states rest.
Way = tuple[float, int, Store]
WAYS: tuple[Way, ...] = tuple(
    (every, readers, store)
    for store in STORES
    for every, readers in ((0.0, 2), (0.0, 1), (0.3, 2), (0.6, 2))
)
# In a run that is not whole: at once, by either number of readers, in either store, and one clock.
FEWER: tuple[Way, ...] = (
    (0.0, 2, "rocksdb"), (0.0, 2, "memory"), (0.0, 1, "memory"), (0.6, 2, "memory"),
)  # fmt: skip
QUICKEST = (WAYS[0], WAYS[4])  # what may prove wrong that a goal cannot be kept
TIMES = (2.0, 12.0)  # of the rate that is learned at first
TOP = 64.0  # the same, beyond which nobody is raced
# Goals are so many times the lowest latency that the model sees on this machine at this time: one
# that cannot be kept, and three that can. The last is the goal that rates are raced under.
LIMITS = (0.7, 1.3, 1.8, 2.5)
# Of the rate that a plan promises; it answers for what is up to 1.
AROUND = (0.85, 1.0, 1.1, 1.25, 1.5)
CELLS = 6  # of the workload that is drawn in a run that is not whole


@dataclass(frozen=True, slots=True)
class Cell:
    """A goal at a rate, and what the planner says to it."""

    goal: Goal
    rate_per_s: float
    setting: Setting | None

    @property
    def tried(self) -> list[Setting]:
        """What is run for the cell: its plan, or, where it is refused, what may prove it wrong."""
        if self.setting is not None:
            return [self.setting]
        return [Setting(self.rate_per_s, *way) for way in QUICKEST]


def run(options: BenchOptions) -> dict[str, Any]:
    """Learn each workload, plan for cells of goals and rates, and run the plans beside a sweep."""
    names = drawn(options)
    found: dict[str, Any] = {}
    more = 1 + len(CELLS_EITHER) if options.full else 0
    with progress(len(names) * 2 + more, "steps") as bar:
        for name, bench in workbenches(names, options.quick):
            profile = bench.learned(PROFILED[name], options.quick)
            bar.advance(note=f"{name} learned")
            found[name] = judged(name, profile, bench, options)
            bar.advance(note=f"{name} measured")
        if options.full:
            found["kafka"] = judge_either(bar)
    figures = figures_of(found) | {"seed": options.seed}
    options.keep("plan", figures)
    for name in names:
        (options.report / f"plan-{name}.svg").write_text(validity(found[name]))
    return figures


def judged(
    name: str, profile: JobProfile, bench: Workbench, options: BenchOptions
) -> dict[str, Any]:
    """One workload: its cells, and the highest rates of the plan and of the sweep."""
    goals, cells = goals_of(name, profile), cells_of(name, profile, options)
    plan = promised_by(profile, goals[-1], PROFILED[name] * TOP)
    settings = sorted(settings_of(plan, cells, options), key=gently)
    goal = goals[-1]
    seen = bench.measure([step_of(each, goal, profile) for each in settings])
    return {
        "goal": str(goal),
        "measured": [
            row_of(setting, late_s)
            | {"kept": goal.met_by(late_s), "planned": setting in plan.settings}
            for setting, late_s in values_of(goal, seen).items()
        ],
        "cells": [cell_figures(cell, seen) for cell in cells],
        "highest": highest(goal, seen, plan),
    }


def settings_of(plan: Promised, cells: Sequence[Cell], options: BenchOptions) -> set[Setting]:
    """What is run, each once: what was planned, and beside it every way that is swept."""
    ways = WAYS if options.full else FEWER
    wanted = {setting for cell in cells for setting in cell.tried}
    if options.quick:
        return wanted | {each for each in rivals_of(plan, ways) if each.rate_per_s == plan.per_s}
    # Whether a goal that is refused could have been kept is seen of every way at its rate.
    rates = {cell.rate_per_s for cell in cells if options.full or cell.setting is None}
    grid = {Setting(rate, *way) for rate in rates for way in ways}
    return wanted | grid | set(rivals_of(plan, ways))


def goals_of(name: str, profile: JobProfile) -> list[Goal]:
    """Goals of a workload's own kind, from one that cannot be kept to one that easily is."""
    own = parse_goal(GOALS[name])
    lowest_s = floor_s(profile, own, PROFILED[name])
    return [Goal(own.quantile, round(share * lowest_s, 2), own.per) for share in LIMITS]


def values_of(goal: Goal, seen: list[Measured]) -> dict[Setting, float]:
    """The statistic of a goal for each setting."""
    return {each.setting: value_of(goal, each) for each in seen}


@dataclass(frozen=True, slots=True)
class Promised:
    """What a plan says about its highest rate: how to run, and settings to hold it to."""

    per_s: float = 0.0
    way: Setting | None = None
    settings: tuple[Setting, ...] = ()
    top: float = float("inf")  # beyond which nobody is tried

    def at(self, rate_per_s: float) -> list[Setting]:
        """The plan's way at another rate."""
        return [replace(self.way, rate_per_s=rate_per_s)] if self.way else []


def promised_by(profile: JobProfile, goal: Goal, top: float) -> Promised:
    """The plan for a goal, at what it promises and a little less; nothing above `top` is tried."""
    most, chosen = promise(profile, goal)
    if chosen is None:
        return Promised()
    promised = min(top, round(most))
    way = setting_of(promised, chosen)
    held = [round(promised * share) for share in AROUND if share <= 1]
    return Promised(promised, way, tuple(replace(way, rate_per_s=rate) for rate in held), top)


def rivals_of(plan: Promised, ways: Sequence[Way] = WAYS) -> list[Setting]:
    """Every way at the plan's rate and above, and the plan's own way at all rates around it."""
    wanted = [round(plan.per_s * share) for share in AROUND] if plan.per_s else []
    rates = sorted({min(plan.top, rate) for rate in wanted})
    swept_ways = [Setting(rate, *way) for rate in rates for way in ways if rate >= plan.per_s]
    return swept_ways + [setting for rate in rates for setting in plan.at(rate)]


def cells_of(name: str, profile: JobProfile, options: BenchOptions) -> list[Cell]:
    """Goals and rates, all or some by chance, each with its plan."""
    chance = random.Random(options.seed)
    every = [(goal, PROFILED[name] * times) for goal in goals_of(name, profile) for times in TIMES]
    picked = every if options.full else chance.sample(every, 2 if options.quick else CELLS)
    return [Cell(goal, rate, planned(profile, goal, rate)) for goal, rate in picked]


def cell_figures(cell: Cell, seen: list[Measured]) -> dict[str, Any]:
    """A cell by name: what was planned, what came, and whether any setting would have kept it."""
    at_rate = [each for each in seen if each.setting.rate_per_s == cell.rate_per_s]
    values = values_of(cell.goal, at_rate)
    best = min(values.values(), default=float("inf"))
    own = values.get(cell.setting) if cell.setting else None
    met = own is not None and cell.goal.met_by(own)
    return {
        "goal": str(cell.goal),
        "rate_per_s": cell.rate_per_s,
        "planned": cell.setting.text if cell.setting else None,
        "measured_s": finite(own) if own is not None else None,
        "met": met,
        "best_of_sweep_s": finite(best),
        "possible": cell.goal.met_by(best),
    }


def highest(goal: Goal, seen: list[Measured], plan: Promised) -> dict[str, float]:
    """The highest rates at which the goal was kept: as promised, by the plan's way, and by any."""
    kept = [setting for setting, late_s in values_of(goal, seen).items() if goal.met_by(late_s)]
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
    """A highest rate as a share of the sweep's, over all workloads that keep their goal at all.

    A plan that promised a rate at which nobody kept the goal, itself neither, has none of it.
    """
    every = [each["highest"] for each in found.values()]
    ratios = [
        each[name] / each["sweep_per_s"] if each["sweep_per_s"] else 0.0
        for each in every
        if each.get("sweep_per_s") or each.get("promised_per_s")
    ]
    return round(float(np.median(ratios)), 3) if ratios else None


def share(yes: list[bool]) -> float | None:
    """How many of them are true; None when there are none."""
    return round(sum(yes) / len(yes), 4) if yes else None

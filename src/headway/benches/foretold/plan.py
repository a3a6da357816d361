"""The first plan for a goal against an exhaustive sweep: is it met, how much more was possible?"""

from __future__ import annotations

import random
from dataclasses import dataclass
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
    rounded,
    row_of,
    value_of,
)
from headway.benches.foretold.workbench import Measured, Setting, Step, Workbench
from headway.benches.options import BenchOptions, progress
from headway.flow.goals import Goal, parse_goal
from headway.measure.costs.profile import JobProfile

SENTENCE = "Goals met by the first plan, and its rate against an exhaustive sweep of settings."
INTERVALS_S = (0.0, 0.3, 0.6, 1.0)
TIMES = (2.0, 8.0, 16.0, 32.0)  # of the profiled rate
LIMITS = (0.5, 0.75, 1.0, 1.5)  # of the workload's own goal
AROUND = (0.8, 0.9, 1.0)  # of the rate that a plan promises
BEYOND = (1.15, 1.3)  # of it, where others may still keep the goal
CELLS = 6  # of each workload in a run that is not whole
STEP_S, WARM_S = 6.0, 2.0


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
    with progress(len(names) * 2 + more, "steps") as bar:
        for name, bench in workbenches(names):
            profile = bench.profile(20.0 if options.quick else LEARNED_S)
            bar.advance(note=f"{name} profiled")
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
    """One workload: its sweep, its cells, and the highest rates of both."""
    cells = cells_of(name, profile, options)
    intervals = INTERVALS_S[1:4] if options.quick else INTERVALS_S
    times = TIMES[:2] if options.quick else TIMES
    sweep = [Setting(PROFILED[name] * t, every, CORES) for t in times for every in intervals]
    wanted = [cell.setting for cell in cells if cell.setting is not None]
    promised, said = promised_settings(name, profile)
    wanted += promised
    top = PROFILED[name] * TIMES[-1]
    rates = {setting.rate_per_s for setting in promised[1:]}
    rates |= {round(said * share) for share in BEYOND if 0 < said * share < top}
    sweep += [Setting(rate, every, CORES) for rate in rates for every in intervals]
    settings = dict.fromkeys([*sweep, *wanted])  # each once
    steps = [Step(each, STEP_S, WARM_S) for each in sorted(settings, key=gently)]
    seen = bench.measure(steps)
    goal = parse_goal(GOALS[name])
    return {
        "goal": GOALS[name],
        "measured": [
            row_of(each.setting, value_of(goal, each))
            | {"kept": goal.met_by(value_of(goal, each)), "planned": each.setting in promised}
            for each in seen
        ],
        "cells": [cell_figures(cell, seen, sweep) for cell in cells],
        "highest": highest(goal, seen, promised) | {"promised_per_s": said},
    }


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


def cell_figures(cell: Cell, seen: list[Measured], sweep: list[Setting]) -> dict[str, Any]:
    """A cell by name: what was planned, what came, and whether any setting would have kept it."""
    at_rate = [
        value_of(cell.goal, each)
        for each in seen
        if each.setting in sweep and each.setting.rate_per_s == cell.rate_per_s
    ]
    own = [value_of(cell.goal, each) for each in seen if each.setting == cell.setting][:1]
    best = min([*at_rate, *own], default=float("inf"))
    met = bool(own) and cell.goal.met_by(own[0])
    return {
        "goal": str(cell.goal),
        "rate_per_s": cell.rate_per_s,
        "planned": setting_text(cell.setting) if cell.setting else None,
        "measured_s": rounded(own[0]) if own else None,
        "met": met,
        "best_of_sweep_s": rounded(best),
        "possible": cell.goal.met_by(best),
    }


def setting_text(setting: Setting) -> str:
    """A setting in a few words."""
    every = f"every {setting.interval_s:g} s" if setting.interval_s else "at once"
    return f"{every}, {setting.readers} readers"


def promised_settings(name: str, profile: JobProfile) -> tuple[list[Setting], float]:
    """The setting of the plan for the workload's goal at what it promises and a little less."""
    most, chosen = promise(profile, parse_goal(GOALS[name]))
    if chosen is None:
        return [], 0.0
    top = PROFILED[name] * TIMES[-1]
    rates = {min(top, round(most * share)) for share in AROUND}
    found = [Setting(rate, chosen.interval_s, chosen.mappers) for rate in sorted(rates)]
    return found, round(most)


def highest(goal: Goal, seen: list[Measured], promised: list[Setting]) -> dict[str, float]:
    """The highest rates at which the goal was kept: by the plan's setting, and by any."""
    kept = [each.setting for each in seen if goal.met_by(value_of(goal, each))]
    by_plan = max((s.rate_per_s for s in kept if s in promised), default=0.0)
    by_any = max((s.rate_per_s for s in kept), default=0.0)
    return {"plan_per_s": by_plan, "sweep_per_s": by_any}


def figures_of(found: dict[str, Any]) -> dict[str, Any]:
    """The figures by name."""
    cells = [cell for each in found.values() for cell in each["cells"]]
    planned_cells = [cell for cell in cells if cell["planned"] is not None]
    refused = [cell for cell in cells if cell["planned"] is None]
    ratios = [
        each["highest"]["plan_per_s"] / each["highest"]["sweep_per_s"]
        for each in found.values()
        if each["highest"].get("sweep_per_s")
    ]
    return {
        "cells": len(cells),
        "met_first_time": share([cell["met"] for cell in planned_cells]),
        "rate_vs_exhaustive": round(float(np.median(ratios)), 3) if ratios else None,
        "infeasible_right": share([not cell["possible"] for cell in refused]),
        "refused": len(refused),
        "workloads": found,
    }


def share(yes: list[bool]) -> float | None:
    """How many of them are true; None when there are none."""
    return round(sum(yes) / len(yes), 4) if yes else None

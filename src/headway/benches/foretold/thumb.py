"""The plan against rules of thumb: as many tasks as cores, and nine intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headway.benches.foretold.figures import rivals
from headway.benches.foretold.learned import CORES, PROFILED, workbenches
from headway.benches.foretold.workbench import Measured, Setting, Step, Workbench
from headway.benches.options import Bar, BenchOptions, progress
from headway.flow.goals import Goal, parse_goal
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.plan.planner import make_plan
from headway.plan.search import Wanted, lowest_latency
from headway.plan.space import space_of
from headway.units import finite

SENTENCE = "The plan against nine rules of thumb on three workloads, at rising rates."
GOALS = {"sessions": "mean <= 500ms", "words": "p99 <= 1s", "windows": "p99 <= 3s per window"}
RULES_S = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
TIMES = (4.0, 8.0, 16.0)  # of the rate that other benches profile at, in a run that is whole
LEAST, TOP = 0.1, 32.0  # and no rate is lower or higher than this
LEARNED_S = 60.0
WARMED, WARMED_S = 4.0, 12.0  # of that rate, for so long in each of two ways, before
EASE = 1.8  # times the lowest latency that the planner sees, below which no goal is raced under
STEP_S, WARM_S, BATCHES = 7.0, 2.5, 4
SURE = 0.95  # of the rate that a plan promises at most
BEYOND, BEST = (1.3, 1.7), 3  # times that rate, for the plan and so many rules


def run(options: BenchOptions) -> dict[str, Any]:
    """At each rate, run what was planned for it and the rules of thumb: who keeps the goal?"""
    names = ["words"] if options.quick else list(GOALS)
    found: dict[str, Any] = {}
    with progress(len(names) * 3, "steps") as bar:
        for name, bench in workbenches(names, options.quick):
            # A JVM gets faster for minutes: it is warm before it is profiled, as it will be then.
            rate = PROFILED[name] * WARMED
            bench.measure([Step(Setting(rate, e, CORES), WARMED_S, WARMED_S) for e in (1.0, 0.0)])
            profile = bench.profile(20.0 if options.quick else LEARNED_S)
            bar.advance(note=f"{name} profiled")
            found[name] = rivalry(name, profile, bench, options, bar)
    figures = {
        "plan_meets_every_goal": all(each["plan_met"] for each in found.values()),
        "plan_carries_more": {n: each["plan_rate"] > each["best_rule_rate"]
                              for n, each in found.items()},
        "workloads": found,
    }  # fmt: skip
    options.keep("thumb", figures)
    for name, each in found.items():
        (options.report / f"thumb-{name}.svg").write_text(rivals(each))
    return figures


def rivalry(
    name: str, profile: JobProfile, bench: Workbench, options: BenchOptions, bar: Bar
) -> dict[str, Any]:
    """One workload: all rules at rates that the plan promises, then the best of them beyond."""
    goal, rules = goal_of(name, profile), RULES_S[3:6] if options.quick else RULES_S
    most, chosen = promise(profile, goal)
    most, chosen = (most, chosen) if most >= PROFILED[name] * LEAST else (0.0, None)
    most = min(PROFILED[name] * TOP, SURE * most) or PROFILED[name]
    times = TIMES if options.full else ()
    rates = [rate for each in times if (rate := PROFILED[name] * each) < most] + [round(most)]
    way = Setting(most, chosen.interval_s, chosen.mappers) if chosen else None
    plans = {rate: planned(profile, goal, rate) for rate in rates}
    thumbs = [Setting(rate, every, CORES) for rate in rates for every in rules]
    seen = measure(bench, [*thumbs, *(each for each in plans.values() if each)])
    bar.advance(note=f"{name} at what was promised")
    # Nobody promised anything beyond; the plan's way is tried there beside the best of the rules.
    last = [s for s in seen if s.setting in thumbs and s.setting.rate_per_s == rates[-1]]
    best = sorted(last, key=lambda each: value_of(goal, each))[:BEST]
    beyond = [round(share * most) for share in BEYOND]
    more = [Setting(rate, each.setting.interval_s, CORES) for rate in beyond for each in best]
    ways = [replace(way, rate_per_s=rate) for rate in beyond] if way else []
    seen += measure(bench, [*more, *ways])
    bar.advance(note=f"{name} beyond")
    return verdict(goal, plans, ways, {each.setting: value_of(goal, each) for each in seen})


def measure(bench: Workbench, settings: list[Setting]) -> list[Measured]:
    """What came of each setting, once, the gentle ones first."""
    return bench.measure([step_of(each) for each in sorted(dict.fromkeys(settings), key=gently)])


def planned(profile: JobProfile, goal: Goal, rate_per_s: float) -> Setting | None:
    """What the planner would do at a rate; None when it says that the goal cannot be kept."""
    space = space_of(profile, ("micro-batch",), CORES, CORES)
    found = make_plan(space, Wanted(goal, Load(rate_per_s, 0.0)), 1, rate_per_s).chosen
    if found is None:
        return None
    return Setting(rate_per_s, found.candidate.interval_s, found.candidate.mappers)


def gently(setting: Setting) -> tuple[float, float]:
    """An order in which what may fall behind comes after what may not."""
    return setting.rate_per_s, -setting.interval_s


def promise(profile: JobProfile, goal: Goal) -> tuple[float, Candidate | None]:
    """The highest rate that the planner says the goal can be kept at, and how."""
    space = space_of(profile, ("micro-batch",), CORES, CORES)
    chosen = make_plan(space, Wanted(goal, Load(1.0, 0.0)), 1, None).chosen
    if chosen is None:
        return 0.0, None
    return chosen.reach.highest_per_s, chosen.candidate


def goal_of(name: str, profile: JobProfile) -> Goal:
    """The goal of a workload; on a machine that is too slow for it, so many times what can be."""
    own = parse_goal(GOALS[name])
    least_s = round(EASE * floor_s(profile, own, PROFILED[name]), 1)
    return own if own.limit_s >= least_s else Goal(own.quantile, least_s, own.per)


def floor_s(profile: JobProfile, goal: Goal, rate_per_s: float) -> float:
    """The lowest value of a goal's statistic that the planner sees at a rate."""
    space = space_of(profile, ("micro-batch",), CORES, CORES)
    lowest = lowest_latency(profile, space.on(1), Wanted(goal, Load(rate_per_s, 0.0)))
    return lowest.of(goal) if lowest is not None else float("inf")


def value_of(goal: Goal, seen: Measured) -> float:
    """The value of a goal's statistic; endless where a setting fell behind."""
    latency = seen.windows if goal.per == "window" else seen.records
    if not latency.count or not seen.kept_up:
        return float("inf")
    return latency.mean_s if goal.quantile is None else latency.quantile(goal.quantile)


def step_of(setting: Setting) -> Step:
    """A setting, held for so long that several of its batches can be seen."""
    return Step(setting, max(STEP_S, WARM_S + BATCHES * setting.interval_s), WARM_S)


def verdict(
    goal: Goal,
    plans: dict[float, Setting | None],
    ways: list[Setting],
    values: dict[Setting, float],
) -> dict[str, Any]:
    """Who kept the goal up to which rate; a plan that is what a rule says counts for both."""
    wanted = [setting for setting in plans.values() if setting is not None]
    rules = {s: v for s, v in values.items() if s.readers == CORES and s.interval_s in RULES_S}
    kept = [s.rate_per_s for s, v in rules.items() if goal.met_by(v)]
    by_plan = [s.rate_per_s for s in [*wanted, *ways] if goal.met_by(values[s])]
    return {
        "goal": str(goal),
        # A goal that the planner refuses although a rule keeps it counts as missed.
        "plan_met": all(goal.met_by(values[s]) for s in wanted) and bool(wanted or not kept),
        "refused_rates": [rate for rate, setting in plans.items() if setting is None],
        "plan_rate": max(by_plan, default=0.0),
        "best_rule_rate": max(kept, default=0.0),
        "rules_met": len(kept),
        "rules_tried": len(rules),
        "plans": [row_of(setting, values[setting]) for setting in [*wanted, *ways]],
        "rules": [row_of(setting, value) for setting, value in rules.items()],
    }


def row_of(setting: Setting, value: float) -> dict[str, float | None]:
    """A setting and what was measured of it, by name."""
    return {
        "rate_per_s": setting.rate_per_s,
        "interval_s": setting.interval_s,
        "measured_s": finite(value),
    }

"""The plan against rules of thumb: as many tasks as cores, and nine intervals.

The plan chooses where states rest, too, so rules must not lose by that alone. All nine are tried
with Spark's own default store, in memory, which is what one gets who does not think of it, and the
best of them with RocksDB as well, which every guide to Spark names. The best rule of thumb is the
best of all that were tried. Figures name the store of each. A run that is not whole has one of the
workloads, drawn by chance.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from headway.benches.foretold.figures import rivals
from headway.benches.foretold.learned import CORES, PROFILED, workbenches
from headway.benches.foretold.steps import REST_S, Setting, Step
from headway.benches.foretold.workbench import Measured, Workbench, foretell
from headway.benches.options import Bar, BenchOptions, progress
from headway.flow.goals import Goal, parse_goal
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stores import Store
from headway.model.candidate import Candidate, Load
from headway.plan.planner import make_plan
from headway.plan.search import Wanted, lowest_latency
from headway.plan.space import space_of
from headway.units import finite

SENTENCE = "The plan against nine rules of thumb on three workloads, at rising rates."
GOALS = {"sessions": "mean <= 500ms", "words": "p99 <= 1s", "windows": "p99 <= 3s per window"}
RULES_S = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
DEFAULT_STORE: Store = "memory"  # what Spark has by default
OTHER_STORE: Store = "rocksdb"
EASE = 1.5  # times the lowest latency that the planner sees, below which no goal is raced under
# A step begins with nothing waiting, and near saturation it takes some cycles until batches have
# grown to what they will be: what is seen before says that a rate can be kept that cannot.
SETTLING, BATCHES = 4, 4  # cycles before a step counts, and in it
SHORTEST_S = 1.5  # of each of the two
BEHIND_S, LONGEST_S = 1.2, 3.0  # for a cycle that grows without end, and for any other at most
WINDOWED_S = 2.5  # more where a goal is about windows, so that several end
SURE = 0.95  # of the rate that a plan promises
LEAST, TOP = 0.1, 32.0  # times the first rate: who promises less refuses, and nobody is tried above
RACE = (0.8, 1.2, 1.8)  # times the rate that is promised
PASSES = 3  # of a race; the median counts, for each alike
BUSY, LONG_REST_S = 0.8, 6.0  # of saturation, beyond which a step is followed by so long a rest


def run(options: BenchOptions) -> dict[str, Any]:
    """Run rules of thumb where the plan promises to keep the goal, then race it and the best."""
    names = drawn(options)
    found: dict[str, Any] = {}
    with progress(len(names) * 3, "steps") as bar:
        for name, bench in workbenches(names, options.quick):
            profile = bench.learned(PROFILED[name], options.quick)
            bar.advance(note=f"{name} learned")
            found[name] = rivalry(name, profile, bench, options, bar)
    figures = {
        "plan_meets_every_goal": all(each["plan_met"] for each in found.values()),
        "plan_carries_more": {n: each["plan_rate"] > each["best_rule_rate"]
                              for n, each in found.items()},
        "workloads": found,
        "seed": options.seed,
    }  # fmt: skip
    options.keep("thumb", figures)
    for name, each in found.items():
        (options.report / f"thumb-{name}.svg").write_text(rivals(each))
    return figures


def drawn(options: BenchOptions) -> list[str]:
    """The workloads that are run: all, or one."""
    if options.full:
        return list(GOALS)
    return ["words" if options.quick else random.Random(options.seed).choice(list(GOALS))]


def rivalry(
    name: str, profile: JobProfile, bench: Workbench, options: BenchOptions, bar: Bar
) -> dict[str, Any]:
    """One workload: all rules at the rate that the plan promises, then the best of them beyond.

    Of nine rules the luckiest looks best. Who is best is found in one trial of each, and how far it
    carries in others, as for the plan.
    """
    goal = goal_of(name, profile)
    most, chosen = promise(profile, goal)
    chosen = chosen if most >= LEAST * PROFILED[name] else None
    rate = round(min(PROFILED[name] * TOP, SURE * most)) if chosen else PROFILED[name]
    way = setting_of(rate, chosen) if chosen else None
    thumbs = rules_at(rate, options)
    first = in_order([*thumbs, *([way] if way and way not in thumbs else [])])
    seen = bench.measure([step_of(each, goal, profile) for each in first])
    best = best_of(goal, [each for each in seen if each.setting in thumbs])
    thumbs.append(replace(best, store=OTHER_STORE))
    if thumbs[-1] != way:
        seen += bench.measure([step_of(thumbs[-1], goal, profile)])
    bar.advance(note=f"{name} at what was promised")
    best = best_of(goal, [each for each in seen if each.setting in thumbs])
    ways = [best] if way is None else [way, best]
    raced = bench.measure([step_of(each, goal, profile) for each in race_of(ways, options)])
    bar.advance(note=f"{name} raced")
    return verdict(goal, way, medians(goal, seen), medians(goal, raced))


def rules_at(rate_per_s: float, options: BenchOptions) -> list[Setting]:
    """The rules of thumb that are tried at a rate, those that are least likely to fail first."""
    rules = RULES_S[:3] if options.quick else RULES_S
    longest_first = sorted(rules, reverse=True)
    return [Setting(rate_per_s, every, CORES, DEFAULT_STORE) for every in longest_first]


def in_order(settings: list[Setting]) -> list[Setting]:
    """Settings in the order in which they come, those of a store one after another: one run."""
    stores = list(dict.fromkeys(each.store for each in settings))
    return sorted(settings, key=lambda each: stores.index(each.store))


def best_of(goal: Goal, seen: list[Measured]) -> Setting:
    """The setting with the lowest value of a goal's statistic."""
    return min(seen, key=lambda each: value_of(goal, each)).setting


def race_of(ways: list[Setting], options: BenchOptions) -> list[Setting]:
    """Every way at rising rates, time and again, by turns: who was first is last the next time.

    Ways of one store take turns at each rate; another store is another run, so there each way has
    all rates, and then the other has them.
    """
    times, passes = (RACE[1:2], 1) if options.quick else (RACE, PASSES)
    return [
        replace(way, rate_per_s=round(way.rate_per_s * share))
        for turn in range(passes)
        for way, share in in_turn(list(dict.fromkeys(ways[:: -1 if turn % 2 else 1])), times)
    ]


def in_turn(ways: list[Setting], times: Sequence[float]) -> list[tuple[Setting, float]]:
    """Every way at each share of its rate; ways of different stores one after the other.

    >>> a, b = Setting(1.0, 0.0, store="memory"), Setting(1.0, 0.5, store="memory")
    >>> [(way.interval_s, share) for way, share in in_turn([a, b], (1.0, 2.0))]
    [(0.0, 1.0), (0.5, 1.0), (0.0, 2.0), (0.5, 2.0)]
    >>> other = replace(b, store="rocksdb")
    >>> [(way.interval_s, share) for way, share in in_turn([a, other], (1.0, 2.0))]
    [(0.0, 1.0), (0.0, 2.0), (0.5, 1.0), (0.5, 2.0)]
    """
    if len({way.store for way in ways}) > 1:
        return [(way, share) for way in ways for share in times]
    return [(way, share) for share in times for way in ways]


def medians(goal: Goal, seen: list[Measured]) -> dict[Setting, float]:
    """The statistic of a goal for each setting, in the middle of its measurements."""
    found: dict[Setting, list[float]] = {}
    for each in seen:
        found.setdefault(each.setting, []).append(value_of(goal, each))
    return {setting: median(values) for setting, values in found.items()}


def planned(profile: JobProfile, goal: Goal, rate_per_s: float) -> Setting | None:
    """What the planner would do at a rate; None when it says that the goal cannot be kept."""
    space = space_of(profile, ("micro-batch",), CORES, CORES)
    found = make_plan(space, Wanted(goal, Load(rate_per_s, 0.0)), 1, rate_per_s).chosen
    if found is None:
        return None
    return setting_of(rate_per_s, found.candidate)


def setting_of(rate_per_s: float, chosen: Candidate) -> Setting:
    """A candidate as the bench runs it."""
    return Setting(rate_per_s, chosen.interval_s, chosen.mappers, chosen.store)


def gently(setting: Setting) -> tuple[str, float, float]:
    """An order in which what may fall behind comes after what may not, one store at a time."""
    return str(setting.store), setting.rate_per_s, -setting.interval_s


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


def step_of(setting: Setting, goal: Goal, profile: JobProfile) -> Step:
    """A setting, held until its batches are as large as they will be, and for several of these."""
    foretold = foretell(profile, setting)
    # A record waits for half a cycle, and then for its batch, which follows on the one before.
    cycle_s = min(foretold.mean_s / 1.5, LONGEST_S) if foretold.stable else BEHIND_S
    cycle_s = max(setting.interval_s, cycle_s)
    warm_s, seen_s = (max(SHORTEST_S, count * cycle_s) for count in (SETTLING, BATCHES))
    seen_s += WINDOWED_S if goal.per == "window" else 0.0
    busy = setting.rate_per_s > BUSY * foretold.saturation_per_s
    return Step(setting, warm_s + seen_s, warm_s, rest_s=LONG_REST_S if busy else REST_S)


def verdict(
    goal: Goal, way: Setting | None, first: dict[Setting, float], raced: dict[Setting, float]
) -> dict[str, Any]:
    """Who kept the goal up to which rate; a plan that is what a rule says counts for both."""
    plans = {s: v for s, v in raced.items() if way and way_of(s) == way_of(way)}
    rules = {s: v for s, v in raced.items() if is_rule(s)}
    thumbs = {s: v for s, v in first.items() if is_rule(s)}
    kept = [s for s, v in thumbs.items() if goal.met_by(v)]
    held = [v for s, v in plans.items() if way and s.rate_per_s <= way.rate_per_s]
    held += [first[way]] if way else []
    return {
        "goal": str(goal),
        # A goal that the planner refuses although a rule keeps it counts as missed.
        "plan_met": all(map(goal.met_by, held)) if way else not kept,
        "promised": way is not None,
        "rate_per_s": next(iter(first)).rate_per_s,
        "plan_rate": carried(goal, plans),
        "best_rule_rate": carried(goal, rules),
        "rules_met": len(kept),
        "rules_tried": len(thumbs),
        "first": [row_of(setting, value) for setting, value in thumbs.items()],
        "plans": [
            row_of(setting, value)
            for setting, value in [*plans.items(), *([(way, first[way])] if way else [])]
        ],
        "rules": [row_of(setting, value) for setting, value in rules.items()],
    }


def is_rule(setting: Setting) -> bool:
    """Whether a rule of thumb says so."""
    return setting.readers == CORES and setting.interval_s in RULES_S


def way_of(setting: Setting) -> tuple[float, int, Store | None]:
    """A setting without its rate."""
    return setting.interval_s, setting.readers, setting.store


def carried(goal: Goal, values: dict[Setting, float]) -> float:
    """Up to which rate a way keeps a goal: the line between two rates, where it crosses the limit.

    >>> way = Setting(10e3, 0.0, 2)
    >>> late = {way: 0.8, replace(way, rate_per_s=20e3): 1.2}
    >>> carried(parse_goal("mean <= 1s"), late)
    15000.0
    """
    rate, last_s = 0.0, 0.0
    for above, late_s in sorted((s.rate_per_s, late_s) for s, late_s in values.items()):
        if not goal.met_by(late_s):
            known = rate and late_s < float("inf")
            share = (goal.limit_s - last_s) / (late_s - last_s) if known else 0.0
            return round(rate + (above - rate) * share, 1)
        rate, last_s = above, late_s
    return float(rate)


def row_of(setting: Setting, value: float) -> dict[str, float | str | None]:
    """A setting and what was measured of it, by name."""
    return {
        "rate_per_s": setting.rate_per_s,
        "interval_s": setting.interval_s,
        "store": setting.store,
        "measured_s": finite(value),
    }

"""How a plan is held against rules of thumb: who kept the goal up to which rate."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from headway.benches.foretold.steps import Setting
from headway.benches.foretold.thumb import (
    BATCHES,
    BEHIND_S,
    GOALS,
    LONG_REST_S,
    PASSES,
    RACE,
    SETTLING,
    carried,
    drawn,
    in_order,
    medians,
    race_of,
    rules_at,
    step_of,
    verdict,
)
from headway.benches.foretold.workbench import Measured
from headway.benches.options import BenchOptions
from headway.flow.goals import parse_goal
from headway.measure.latency import Latency
from tests.model.profiles import profile

GOAL = parse_goal("p99 <= 1s")
PLAN, BEYOND = Setting(10e3, 0.27, 1), Setting(20e3, 0.27, 1)
RULE, SLOWER = Setting(10e3, 0.5, 2), Setting(10e3, 2.0, 2)


def test_the_plan_is_judged_where_it_promised_and_credited_beyond() -> None:
    first = {RULE: 0.95, SLOWER: 2.9, PLAN: 0.9}
    found = verdict(GOAL, PLAN, first, {PLAN: 0.8, BEYOND: 1.2, RULE: 0.9})
    assert (found["plan_met"], found["plan_rate"], found["best_rule_rate"]) == (True, 15e3, 10e3)
    assert (found["rules_met"], found["rules_tried"]) == (1, 2)


def test_a_rule_that_is_what_the_plan_says_counts_for_both() -> None:
    found = verdict(GOAL, RULE, {RULE: 0.95}, {RULE: 0.9})
    assert (found["plan_rate"], found["best_rule_rate"]) == (10e3, 10e3)


def test_a_plan_that_misses_its_goal_or_refuses_what_a_rule_keeps_has_not_met_it() -> None:
    missed = verdict(GOAL, PLAN, {RULE: 0.95, PLAN: 0.9}, {PLAN: 1.2, BEYOND: 1.3, RULE: 0.95})
    assert (missed["plan_met"], missed["plan_rate"]) == (False, 0.0)
    assert not verdict(GOAL, PLAN, {PLAN: 1.1}, {PLAN: 0.9})["plan_met"]
    assert not verdict(GOAL, None, {RULE: 0.9}, {})["plan_met"]
    assert verdict(GOAL, None, {RULE: 1.9}, {})["plan_met"]


def test_a_way_that_falls_behind_carries_what_it_carried_before() -> None:
    assert carried(GOAL, {PLAN: 0.8, BEYOND: float("inf")}) == 10e3
    assert carried(GOAL, {PLAN: 1.8, BEYOND: 2.0}) == 0.0


def test_of_several_measurements_the_one_in_the_middle_counts() -> None:
    late = [0.5, 2.0, 0.7]
    seen = [
        Measured(RULE, Latency.of(np.full(100, each)), Latency.of(np.zeros(0)), True)
        for each in late
    ]
    assert medians(GOAL, seen) == {RULE: 0.7}


def test_a_step_is_as_long_as_some_cycles_of_its_batches() -> None:
    slow = step_of(Setting(1e3, 2.0), GOAL, profile())
    assert (slow.warm_s, slow.seconds) == (2.0 * SETTLING, 2.0 * (SETTLING + BATCHES))
    quick = step_of(Setting(1e3, 0.1), GOAL, profile())
    assert (quick.warm_s, quick.seconds) == (1.5, 3.0)
    hopeless = step_of(Setting(1e9, 0.1), GOAL, profile())
    assert hopeless.warm_s == pytest.approx(SETTLING * BEHIND_S)
    assert hopeless.rest_s == LONG_REST_S > quick.rest_s


def test_rules_rest_their_states_where_spark_does() -> None:
    rules = rules_at(1e4, BenchOptions())
    assert {(rule.store, rule.readers) for rule in rules} == {("memory", 2)}
    assert len({rule.interval_s for rule in rules}) == 9


def test_a_whole_run_has_all_workloads_and_any_other_the_one_that_its_seed_draws() -> None:
    assert drawn(BenchOptions(full=True)) == list(GOALS)
    some = [drawn(BenchOptions(seed=seed)) for seed in range(20)]
    assert {name for names in some for name in names} == set(GOALS)
    assert {len(names) for names in some} == {1}


def test_settings_of_one_store_follow_each_other() -> None:
    plan = Setting(1e4, 0.27, 1, "memory")
    thumbs = [Setting(1e4, 0.5, 2, "memory"), Setting(1e4, 0.5, 2, "rocksdb")]
    assert in_order([*thumbs, plan]) == [thumbs[0], plan, thumbs[1]]


def test_ways_of_different_stores_are_raced_by_turns_of_all_rates() -> None:
    plan, rule = Setting(1e4, 0.27, 1, "memory"), Setting(1e4, 0.5, 2, "rocksdb")
    raced = race_of([plan, rule], BenchOptions())
    stores = [key for key, _ in groupby(each.store for each in raced)]
    assert stores == ["memory", "rocksdb", "memory", "rocksdb"]  # four runs for three turns
    assert len(raced) == 2 * len(RACE) * PASSES
    alike = race_of([plan, replace(rule, store="memory")], BenchOptions())
    assert [each.interval_s for each in alike[:4]] == [0.27, 0.5, 0.27, 0.5]

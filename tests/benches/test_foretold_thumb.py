"""How a plan is held against rules of thumb: who kept the goal up to which rate."""

from __future__ import annotations

from headway.benches.foretold.thumb import verdict
from headway.benches.foretold.workbench import Setting
from headway.flow.goals import parse_goal

GOAL = parse_goal("p99 <= 1s")
PLAN, BEYOND = Setting(10e3, 0.27, 1), Setting(13e3, 0.27, 1)
RULE, SLOWER = Setting(10e3, 0.5, 2), Setting(10e3, 2.0, 2)


def test_the_plan_is_judged_where_it_promised_and_credited_beyond() -> None:
    values = {PLAN: 0.8, BEYOND: 0.9, RULE: 0.95, SLOWER: 2.9}
    found = verdict(GOAL, {10e3: PLAN}, [BEYOND], values)
    assert (found["plan_met"], found["plan_rate"], found["best_rule_rate"]) == (True, 13e3, 10e3)
    assert (found["rules_met"], found["rules_tried"]) == (1, 2)


def test_a_plan_that_misses_its_goal_or_refuses_what_a_rule_keeps_has_not_met_it() -> None:
    missed = verdict(GOAL, {10e3: PLAN}, [BEYOND], {PLAN: 1.2, BEYOND: 1.3, RULE: 0.95})
    assert (missed["plan_met"], missed["plan_rate"]) == (False, 0.0)
    assert not verdict(GOAL, {10e3: None}, [], {RULE: 0.9})["plan_met"]
    assert verdict(GOAL, {10e3: None}, [], {RULE: 1.9})["plan_met"]

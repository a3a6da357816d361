"""How plans are held against a sweep: which settings are tried again, and which rates count."""

from __future__ import annotations

import numpy as np

from headway.benches.foretold.plan import (
    Cell,
    Promised,
    cell_figures,
    highest,
    ratio_of,
    rivals_of,
)
from headway.benches.foretold.workbench import Measured, Setting
from headway.flow.goals import parse_goal
from headway.measure.latency import Latency

GOAL = parse_goal("p99 <= 1s")
WAY = Setting(20e3, 0.3, 1)
PLAN = Promised(20e3, WAY, (Setting(18e3, 0.3, 1), WAY))


def seen(rate: float, every: float, late_s: float, readers: int = 2) -> Measured:
    late = Latency.of(np.full(100, late_s))
    return Measured(Setting(rate, every, readers), late, Latency.of(np.zeros(0)), True)


SWEEP = [seen(10e3, 0.0, 0.5), seen(40e3, 0.0, 0.8), seen(40e3, 1.0, 1.5), seen(80e3, 0.0, 2.0)]


def test_the_best_of_a_sweep_and_what_lies_above_it_are_tried_again_beside_the_plan() -> None:
    tried = rivals_of(GOAL, PLAN, SWEEP)
    assert {each.rate_per_s for each in tried} == {40e3, 80e3, 23e3}
    assert Setting(40e3, 0.0, 2) in tried
    assert [s.rate_per_s for s in tried if (s.interval_s, s.readers) == (0.3, 1)]  # the plan's way


def test_nothing_above_the_sweep_is_tried() -> None:
    far = Promised(1e6, Setting(1e6, 0.0))
    assert max(each.rate_per_s for each in rivals_of(GOAL, far, SWEEP)) == 80e3


def test_a_plan_is_credited_for_what_it_promised_and_its_way_for_what_it_kept() -> None:
    later = [seen(18e3, 0.3, 0.9, 1), seen(20e3, 0.3, 1.1, 1), seen(23e3, 0.3, 0.95, 1)]
    found = highest(GOAL, [*SWEEP, *later], PLAN)
    assert found == {
        "promised_per_s": 20e3, "plan_per_s": 18e3, "way_per_s": 23e3, "sweep_per_s": 40e3,
    }  # fmt: skip
    assert ratio_of("plan_per_s", {"words": {"highest": found}, "none": {"highest": {}}}) == 0.45


def test_a_refused_goal_that_any_setting_kept_was_possible() -> None:
    refused = cell_figures(Cell(GOAL, 40e3, None), SWEEP, [])
    assert (refused["possible"], refused["planned"], refused["met"]) == (True, None, False)
    kept = cell_figures(Cell(GOAL, 80e3, None), SWEEP, [])
    assert not kept["possible"]


def test_a_planned_goal_is_met_by_what_was_run_after_planning() -> None:
    cell = Cell(GOAL, 40e3, Setting(40e3, 0.0, 2))
    assert not cell_figures(cell, SWEEP, [seen(40e3, 0.0, 1.2)])["met"]
    assert cell_figures(cell, SWEEP, [seen(40e3, 0.0, 0.9)])["met"]

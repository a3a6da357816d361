"""How plans are held against a sweep: which settings are tried again, and which rates count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from headway.benches.foretold.plan import (
    WAYS,
    Cell,
    Promised,
    cell_figures,
    highest,
    ratio_of,
    rivals_of,
)
from headway.benches.foretold.steps import Setting
from headway.benches.foretold.workbench import Measured
from headway.flow.goals import parse_goal
from headway.measure.latency import Latency

GOAL = parse_goal("p99 <= 1s")
WAY = Setting(20e3, 0.3, 1, "memory")
PLAN = Promised(20e3, WAY, (replace(WAY, rate_per_s=18e3), WAY))


def seen(rate: float, every: float, late_s: float, readers: int = 2) -> Measured:
    late = Latency.of(np.full(100, late_s))
    return Measured(Setting(rate, every, readers, "memory"), late, Latency.of(np.zeros(0)), True)


SWEEP = [seen(10e3, 0.0, 0.5), seen(40e3, 0.0, 0.8), seen(40e3, 1.0, 1.5), seen(80e3, 0.0, 2.0)]


def test_every_way_is_tried_from_the_rate_of_the_plan_on_and_its_own_below_it_too() -> None:
    tried = rivals_of(PLAN)
    assert {each.rate_per_s for each in tried} == {17e3, 20e3, 22e3, 25e3, 30e3}
    own = (0.3, 1, "memory")
    for rate, ways in ((17e3, {own}), (20e3, {*WAYS, own}), (25e3, {*WAYS, own})):
        found = {(e.interval_s, e.readers, e.store) for e in tried if e.rate_per_s == rate}
        assert found == ways
    assert not rivals_of(Promised())


def test_nothing_is_tried_beyond_the_top() -> None:
    assert max(each.rate_per_s for each in rivals_of(replace(PLAN, top=21e3))) == 21e3


def test_a_refused_goal_is_tried_in_the_quickest_ways() -> None:
    quickest = [Setting(5e3, 0.0, 2, "rocksdb"), Setting(5e3, 0.0, 2, "memory")]
    assert Cell(GOAL, 5e3, None).tried == quickest
    assert Cell(GOAL, 5e3, WAY).tried == [WAY]


def test_a_plan_is_credited_for_what_it_promised_and_its_way_for_what_it_kept() -> None:
    later = [seen(18e3, 0.3, 0.9, 1), seen(20e3, 0.3, 1.1, 1), seen(23e3, 0.3, 0.95, 1)]
    found = highest(GOAL, [*SWEEP, *later], PLAN)
    assert found == {
        "promised_per_s": 20e3, "plan_per_s": 18e3, "way_per_s": 23e3, "sweep_per_s": 40e3,
    }  # fmt: skip
    assert ratio_of("plan_per_s", {"words": {"highest": found}, "none": {"highest": {}}}) == 0.45


def test_a_refused_goal_that_any_setting_kept_was_possible() -> None:
    refused = cell_figures(Cell(GOAL, 40e3, None), SWEEP)
    assert (refused["possible"], refused["planned"], refused["met"]) == (True, None, False)
    kept = cell_figures(Cell(GOAL, 80e3, None), SWEEP)
    assert not kept["possible"]


def test_a_promise_that_nobody_kept_counts_as_nothing() -> None:
    def of(promised: float, plan: float, sweep: float) -> dict[str, Any]:
        return {"highest": {"promised_per_s": promised, "plan_per_s": plan, "sweep_per_s": sweep}}

    assert ratio_of("plan_per_s", {"a": of(9.0, 9.0, 10.0), "b": of(5.0, 0.0, 0.0)}) == 0.45
    assert ratio_of("plan_per_s", {"a": of(9.0, 9.0, 10.0), "b": of(0.0, 0.0, 0.0)}) == 0.9

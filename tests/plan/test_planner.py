"""The plan is the fewest nodes that carry the rate, and the setting that carries most on them."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

import pytest

from headway.flow.goals import parse_goal
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Load
from headway.model.predict import predict
from headway.plan.modes import MODES
from headway.plan.planner import Plan, make_plan
from headway.plan.search import Wanted, reaches
from headway.plan.space import Space, space_of
from headway.plan.text import plan_figures, plan_text
from tests.model.profiles import profile, stored

SPACE = space_of(profile(), MODES, cores=2)


def plan_for(goal: str, rate: float | None = None, nodes: int = 1, space: Space = SPACE) -> Plan:
    return make_plan(space, Wanted(parse_goal(goal), Load(1.0)), nodes, rate)


def test_a_goal_of_a_second_is_met_by_batches_and_one_of_milliseconds_in_real_time() -> None:
    slow, fast = plan_for("p99 <= 2s").chosen, plan_for("p99 <= 60ms").chosen
    assert slow is not None
    assert fast is not None
    assert slow.candidate.mode == "micro-batch"
    assert fast.candidate.mode == "real-time"
    assert slow.reach.highest_per_s > 10 * fast.reach.highest_per_s


@pytest.mark.parametrize("goal", ["mean <= 700ms", "p99 <= 2s", "p99 <= 3s per window"])
def test_the_highest_rate_keeps_the_goal_and_a_higher_one_does_not(goal: str) -> None:
    wanted = Wanted(parse_goal(goal), Load(1.0))
    found = [reach for reach in reaches(SPACE.profile, SPACE.on(1), wanted) if reach.highest_per_s]
    assert found
    for reach in found[::5]:
        kept, missed = (
            predict(SPACE.profile, reach.candidate, replace(wanted.load, rate_per_s=rate))
            for rate in (reach.highest_per_s * 0.97, reach.highest_per_s * 1.05)
        )
        assert kept.of(wanted.goal) <= wanted.limit_s(kept.margin)
        nearly_full = reach.highest_per_s > 0.9 * reach.saturation_per_s
        assert nearly_full or missed.of(wanted.goal) > wanted.limit_s(missed.margin) * 0.999


def test_no_candidate_carries_more_than_the_plan() -> None:
    found = plan_for("p99 <= 2s")
    assert found.chosen is not None
    assert found.chosen.reach.highest_per_s == max(r.highest_per_s for r in found.tried)


def test_a_higher_rate_takes_more_nodes_and_no_more_than_it_needs() -> None:
    few = plan_for("p99 <= 2s", rate=100_000, nodes=8)
    many = plan_for("p99 <= 2s", rate=1_500_000, nodes=8)
    assert few.chosen is not None
    assert many.chosen is not None
    assert few.chosen.candidate.nodes == 1
    nodes = many.chosen.candidate.nodes
    assert 1 < nodes <= 8
    assert many.highest[nodes] >= 1_500_000 > many.highest[nodes - 1]
    assert list(many.highest) == list(range(1, nodes + 1))


def test_what_cannot_be_reached_is_said_with_what_is_nearest() -> None:
    found = plan_for("p99 <= 60ms", rate=40_000)
    assert found.chosen is None
    lower, slower = found.nearest
    assert lower.predicted.of(found.wanted.goal) > 0.06
    assert lower.predicted.under.rate_per_s == 40_000
    assert slower.predicted.of(found.wanted.goal) <= 0.06
    assert slower.predicted.under.rate_per_s < 40_000


def test_a_goal_that_nothing_reaches_at_any_rate_has_no_rate_that_is_nearest() -> None:
    found = plan_for("p99 <= 1ms")
    assert found.chosen is None
    assert [choice.because for choice in found.nearest] == ["lowest latency at this rate"]


def test_a_flow_that_does_not_suit_real_time_mode_is_not_planned_for_it() -> None:
    space = space_of(profile(), ("micro-batch",), cores=2)
    assert plan_for("p99 <= 60ms", space=space).chosen is None
    assert {reach.candidate.mode for reach in plan_for("p99 <= 2s", space=space).tried} == {
        "micro-batch"
    }


def test_the_number_of_reducers_of_a_checkpoint_is_kept() -> None:
    space = space_of(profile(), MODES, cores=2, reducers=2)
    batches = [c for c in space.on(3) if c.mode == "micro-batch"]
    assert {candidate.reducers for candidate in batches} == {2}


def test_caution_costs_rate_and_buys_safety() -> None:
    careful, bold = (
        make_plan(SPACE, Wanted(parse_goal("p99 <= 2s"), Load(1.0), caution), 1, None).chosen
        for caution in (1.0, 0.0)
    )
    assert careful is not None
    assert bold is not None
    assert careful.reach.highest_per_s < bold.reach.highest_per_s


def test_a_goal_within_the_margin_has_a_plan_and_no_promise() -> None:
    careful, bold = (
        make_plan(SPACE, Wanted(parse_goal("p99 <= 2s"), Load(1.0), caution), 1, None).chosen
        for caution in (1.0, 0.0)
    )
    assert careful is not None
    assert bold is not None
    between = (careful.reach.highest_per_s * bold.reach.highest_per_s) ** 0.5
    found = plan_for("p99 <= 2s", rate=between)
    assert found.chosen is not None
    assert not found.sure
    assert "may keep p99 <= 2s" in plan_text(found)
    assert plan_figures(found)["sure"] is False
    assert plan_for("p99 <= 2s", rate=careful.reach.highest_per_s * 0.9).sure
    assert plan_for("p99 <= 2s", rate=bold.reach.highest_per_s * 1.1).chosen is None


@pytest.mark.parametrize("known", [profile(), stored()], ids=["one store", "two stores"])
def test_a_plan_for_eight_nodes_takes_less_than_two_seconds(known: JobProfile) -> None:
    space = space_of(known, MODES, cores=2)
    plan_for("p99 <= 2s", space=space)
    begun = process_time()
    plan_for("p99 <= 300ms", rate=1e9, nodes=8, space=space)
    assert process_time() - begun < 2.0  # seconds


def test_a_task_maps_each_partition_on_however_many_nodes() -> None:
    streams = [c for c in space_of(profile(), ("real-time",), 2).on(4) if c.mode == "real-time"]
    assert {(c.mappers, c.reducers) for c in streams} == {(1, 4)}


def test_real_time_mode_that_would_carry_more_lost_for_its_sink_and_not_for_its_cost() -> None:
    found = plan_for("p99 <= 470ms", 4_000.0)
    assert found.chosen is not None
    assert found.chosen.candidate.mode == "micro-batch"
    streams = [each for each in found.others if each.candidate.mode == "real-time"]
    assert [each.because.endswith("twice after a crash") for each in streams] == [True]

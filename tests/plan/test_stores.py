"""States may rest in memory where that is known to fit, and a checkpoint keeps its store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.errors import RunError
from headway.flow.goals import parse_goal
from headway.measure.costs.stores import Stores
from headway.model.candidate import Load
from headway.plan.modes import MODES
from headway.plan.planner import Plan, make_plan
from headway.plan.search import Wanted
from headway.plan.space import space_of
from headway.plan.stores import (
    check_mode_reads,
    check_store,
    choose_stores,
    memory_text,
    why_not_in_memory,
)
from headway.plan.text import every_figures, plan_figures
from tests.model.profiles import profile, stored

GOAL = parse_goal("p99 <= 1s")


def plan_for(known: object = None, rate: float | None = None, **begun: object) -> Plan:
    space = space_of(known or stored(), MODES, 2, **begun)  # type: ignore[arg-type]
    return make_plan(space, Wanted(GOAL, Load(1.0)), 1, rate)


def test_states_rest_where_more_is_carried() -> None:
    found, rocks = plan_for(), plan_for(store="rocksdb")
    assert found.chosen is not None
    assert rocks.chosen is not None
    assert found.chosen.candidate.store == "memory"
    assert rocks.chosen.candidate.store == "rocksdb"
    assert found.chosen.reach.highest_per_s > 1.1 * rocks.chosen.reach.highest_per_s


def test_the_other_store_is_an_alternative_that_says_why_it_lost() -> None:
    others = plan_for().others
    lost = [each for each in others if each.candidate.store == "rocksdb"]
    assert len(lost) == 1
    assert "of the plan's rate" in lost[0].because
    assert "states in RocksDB" in str(lost[0].candidate)


def test_where_either_has_room_memory_must_spare_something() -> None:
    alike = stored()
    own = alike.batch.kept_s
    rocks = own.fits["rocksdb"]
    same = replace(own, fits={"rocksdb": rocks, "memory": rocks})
    found = plan_for(replace(alike, batch=replace(alike.batch, kept_s=same)), rate=10_000.0)
    assert found.chosen is not None
    assert found.chosen.candidate.store == "rocksdb"


def test_states_that_would_outgrow_the_heap_do_not_rest_in_memory() -> None:
    assert why_not_in_memory(stored().batch.kept_s) is None
    grown = why_not_in_memory(stored(per_doubling=2.0).batch.kept_s)
    assert grown is not None
    assert "more than 10% of a heap of 1,000.0 MB" in grown
    small = why_not_in_memory(stored(heap_bytes=50e6).batch.kept_s)
    assert small is not None
    assert "more than 10% of a heap of 50.0 MB" in small
    unknown = why_not_in_memory(replace(stored().batch.kept_s, heap_bytes=0.0))
    assert unknown == "how much of the heap they take is not known"


def test_states_of_windows_that_close_need_fit_only_at_a_higher_rate() -> None:
    grown = stored(per_doubling=2.0).batch.kept_s
    closing = replace(grown, living=2.0**20)
    assert why_not_in_memory(closing) is None  # 64 MB at eight times the rate
    assert "8,388,608 records in open windows" in memory_text(closing)
    small = why_not_in_memory(replace(closing, heap_bytes=500e6))
    assert small is not None
    assert "as they grow would take 64.0 MB of 8,388,608 records in open windows" in small
    young = why_not_in_memory(replace(grown, living=2.0**40))  # no window has closed so far
    assert young is not None
    assert "would take 8,000.0 MB of 1,048,576,000 records in open windows" in young


def test_a_store_that_is_left_out_is_named_with_the_reason() -> None:
    stores, left_out = choose_stores(stored(per_doubling=2.0).batch.kept_s, None)
    assert stores == ("rocksdb",)
    assert left_out[0].startswith("states in memory are not considered: they took 8.0 MB after")
    ran = Stores({"rocksdb": stored().batch.kept_s.fits["rocksdb"]})
    stores, left_out = choose_stores(ran, None)
    assert stores == ("rocksdb",)
    assert left_out == (
        "states in memory are not considered: what that costs is not known; `headway profile` "
        "tries it",
    )
    assert choose_stores(Stores(), None) == ((None,), ())  # nobody has told: no states


def test_where_only_memory_is_known_and_does_not_fit_states_rest_in_rocksdb() -> None:
    grown = stored(per_doubling=2.0)
    heap = Stores({"memory": grown.batch.kept_s.fits["memory"]})
    space = space_of(replace(grown, batch=replace(grown.batch, kept_s=heap)), MODES, 2)
    assert (space.modes, space.stores) == (MODES, ("rocksdb",))
    assert len(space.left_out) == 1
    own, pooled = space.profile.batch_s(1e4, 2, "rocksdb"), space.profile.batch_s(1e4, 2)
    assert own == pooled  # what is known of any store


def test_a_checkpoint_keeps_its_store_and_memory_has_one_mode() -> None:
    begun = space_of(stored(per_doubling=2.0), MODES, 2, 2, "memory")
    assert (begun.modes, begun.stores, begun.left_out) == (("micro-batch",), ("memory",), ())
    rocks = space_of(stored(), MODES, 2, 2, "rocksdb")
    assert rocks.modes == MODES
    assert {each.store for each in rocks.on(1) if each.mode == "micro-batch"} == {"rocksdb"}
    assert {each.store for each in rocks.on(1) if each.mode == "real-time"} == {None}


def test_the_store_of_each_candidate_is_there_for_programs() -> None:
    found = plan_for()
    assert plan_figures(found)["chosen"]["store"] == "memory"  # type: ignore[index]
    assert {each.get("store") for each in every_figures(found)} == {"memory", "rocksdb", None}
    assert plan_figures(plan_for(profile()))["chosen"]["store"] is None  # type: ignore[index]


def test_real_time_mode_is_refused_where_states_rest_in_memory() -> None:
    check_mode_reads("micro-batch", "memory")
    check_mode_reads("real-time", "rocksdb")
    check_mode_reads("real-time", None)
    with pytest.raises(RunError, match=r"reads them from RocksDB only; .*store='rock"):
        check_mode_reads("real-time", "memory")


def test_a_word_that_is_no_store_is_refused() -> None:
    check_store(None)
    check_store("memory")
    with pytest.raises(ValueError, match="store must be 'rocksdb' or 'memory'; got 'disk'"):
        check_store("disk")  # type: ignore[arg-type]

"""The keeper changes a flow when that pays, says why, and leaves it alone otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.flow.goals import parse_goal
from headway.keep.decisions import Audit, Decision, read_decisions, write_decision
from headway.keep.loop import Caution, Kept, choose_plan
from headway.keep.seeing import Flowing, look
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stores import STORES
from headway.model.candidate import Candidate, Load
from headway.plan.modes import MODES
from headway.plan.search import Wanted
from headway.plan.space import space_of
from headway.testing.logs import START_S, made_line, made_lines
from tests.model.profiles import profile, stored

WANTED = Wanted(parse_goal("p99 <= 1s"), Load(1.0))
SPACE = space_of(profile(), ("micro-batch",), cores=2)
HALF = Candidate("micro-batch", 1, 2, 2, 2, interval_s=0.5)
CAUTION = Caution()


def flowing(rate: float, at_s: float = 1_000.0, measured_s: float | None = 0.7) -> Flowing:
    return Flowing(rate, measured_s, 0, at_s)


def passed(kept: Kept, seen: Flowing, wanted: Wanted = WANTED) -> tuple[Kept, Decision]:
    return choose_plan(kept, seen, SPACE, wanted, CAUTION)


def test_a_goal_that_is_kept_is_left_alone() -> None:
    kept, said = passed(Kept(HALF), flowing(1_000))
    assert (said.action, kept.now) == ("keep", HALF)
    assert said.because == "p99 <= 1s is kept: 0.698 s expected"


def test_more_records_than_the_pace_carries_change_the_pace() -> None:
    kept, said = passed(Kept(HALF), flowing(460_000))
    assert said.action == "change"
    assert kept.now.interval_s < 0.5
    assert "at 460,000/s p99 <= 1s would become" in said.because
    assert said.expected_s is not None
    assert said.expected_s <= 1.0


def test_fewer_records_make_batches_rarer_and_cheaper() -> None:
    hasty = Kept(replace(HALF, interval_s=0.0))
    kept, said = passed(hasty, flowing(1_000))
    assert said.action == "change"
    assert kept.now.interval_s > 0.3
    assert "fewer core-seconds" in said.because


def test_a_change_waits_for_the_last_one_to_show() -> None:
    recent = Kept(HALF, changed_s=995.0)
    _, said = passed(recent, flowing(460_000))
    assert (said.action, said.because) == ("keep", "the last change is too recent")
    _, later = passed(recent, flowing(460_000, at_s=1_020.0))
    assert later.action == "change"


def test_a_rate_that_goes_up_and_down_makes_no_pendulum() -> None:
    kept, changes = Kept(HALF), 0
    for turn in range(12):
        rate = 50_000 * (1 + 0.15 * (-1) ** turn)
        kept, said = passed(kept, flowing(rate, at_s=1_000.0 + 20 * turn))
        changes += said.action == "change"
    assert changes <= 1


def test_a_goal_of_milliseconds_is_worth_a_change_of_mode_and_a_kept_one_is_not() -> None:
    both = space_of(profile(), MODES, cores=2)
    fast = Wanted(parse_goal("p99 <= 60ms"), Load(1.0))
    kept, said = choose_plan(Kept(HALF), flowing(2_000), both, fast, CAUTION)
    assert (said.action, kept.now.mode) == ("change", "real-time")
    _, calm = choose_plan(Kept(HALF), flowing(2_000), both, WANTED, CAUTION)
    assert calm.action == "keep"


def test_what_the_checkpoint_forbids_is_not_considered() -> None:
    fast = Wanted(parse_goal("p99 <= 60ms"), Load(1.0))
    own = replace(HALF, store="memory")
    begun = space_of(stored(), MODES, 2, 2, "memory")
    for rate in (1_000.0, 460_000.0):
        for wanted in (WANTED, fast):
            kept, _ = choose_plan(Kept(own), flowing(rate), begun, wanted, CAUTION)
            assert (kept.now.mode, kept.now.store) == ("micro-batch", "memory")
    rocks = Kept(replace(HALF, store="rocksdb"))
    begun = space_of(stored(), ("micro-batch",), 2, 2, "rocksdb")
    kept, said = choose_plan(rocks, flowing(460_000), begun, WANTED, CAUTION)
    assert (said.action, kept.now.store) == ("change", "rocksdb")


def test_a_run_is_audited_by_the_costs_of_its_own_store() -> None:
    expected = {}
    for store in STORES:
        begun = space_of(stored(), ("micro-batch",), 2, 2, store)
        own = Kept(replace(HALF, store=store))
        kept, _ = choose_plan(own, flowing(1_000), begun, WANTED, CAUTION)
        _, said = choose_plan(kept, flowing(1_000), begun, WANTED, CAUTION)
        assert said.audit is not None
        expected[store] = said.audit.predicted_s
    assert expected["memory"] < expected["rocksdb"]


def test_a_change_of_mode_that_costs_more_than_it_spares_is_not_made() -> None:
    both = space_of(profile(), MODES, cores=2)
    fast = Wanted(parse_goal("p99 <= 60ms"), Load(1.0))
    slow = replace(CAUTION, restart_s=600.0)
    _, said = choose_plan(Kept(HALF), flowing(2_000), both, fast, slow)
    assert said.action == "keep"
    assert "nothing else would be worth a change" in said.because


def test_checkpoints_too_close_for_a_goal_of_milliseconds_become_rarer_if_a_restart_pays() -> None:
    both = space_of(profile(), MODES, cores=2)
    fast = Wanted(parse_goal("p99 <= 60ms"), Load(1.0))
    close = Kept(Candidate("real-time", 1, 2, 1, 1, checkpoint_s=10.0))
    quick = replace(CAUTION, restart_s=0.5)
    kept, said = choose_plan(close, flowing(2_000), both, fast, quick)
    assert (said.action, kept.now.mode) == ("change", "real-time")
    assert kept.now.checkpoint_s > 10.0
    slow = replace(CAUTION, restart_s=600.0)
    assert choose_plan(close, flowing(2_000), both, fast, slow)[1].action == "keep"


def test_what_no_plan_keeps_gets_what_is_least_late() -> None:
    tight = Wanted(parse_goal("p99 <= 300ms"), Load(1.0))
    kept, said = passed(Kept(replace(HALF, interval_s=2.0)), flowing(1_000), tight)
    assert said.action == "change"
    assert kept.now.interval_s == 0.0


def test_nothing_is_decided_before_anything_is_known() -> None:
    nothing = space_of(JobProfile("f"), MODES, cores=2)
    _, said = choose_plan(Kept(HALF), flowing(1_000), nothing, WANTED, CAUTION)
    assert said.action == "wait"


def test_what_was_foretold_is_held_against_what_came() -> None:
    kept, first = passed(Kept(HALF), flowing(1_000))
    assert first.audit is None
    _, good = passed(kept, flowing(1_000, measured_s=0.72))
    _, bad = passed(kept, flowing(1_000, measured_s=2.0))
    assert good.audit is not None
    assert bad.audit is not None
    assert good.audit.within
    assert not bad.audit.within
    assert str(bad.audit).startswith("measured 2 s, not as expected: 0.698 s")


def test_a_mode_that_somebody_else_chose_is_not_audited_by_what_was_known_before() -> None:
    batches = replace(profile(), stream=type(profile().stream)())
    kept, _ = choose_plan(
        Kept(HALF), flowing(1_000), space_of(batches, MODES, cores=2), WANTED, CAUTION
    )
    switched = replace(kept, now=Candidate("real-time", 1, 2, 1, 1, checkpoint_s=60.0))
    _, said = choose_plan(
        switched, flowing(1_000, 1_010.0), space_of(profile(), MODES, 2), WANTED, CAUTION
    )
    assert said.audit is None
    assert said.action != "wait"


def test_a_latency_without_end_is_none_in_the_log(tmp_path: Path) -> None:
    write_decision(tmp_path / "d", Decision(1.0, 2.0, "keep", "", HALF, float("inf")))
    assert "Infinity" not in (tmp_path / "d").read_text()
    assert next(read_decisions(tmp_path / "d")).expected_s is None


def test_decisions_survive_a_file_and_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    made = [
        Decision(1.0, 2.0, "keep", "so", HALF, 0.5, Audit(0.5, 0.4, 0.6, 0.55)),
        Decision(2.0, 2.0, "wait", "so", HALF),
    ]
    for decision in made:
        write_decision(path, decision)
    with path.open("a") as file:
        file.write('{"at_s": 3')
    assert list(read_decisions(path)) == made
    assert list(read_decisions(tmp_path / "none")) == []


def test_the_newest_batches_tell_rate_and_latency() -> None:
    lines = made_lines(60)
    seen = look(lines, parse_goal("p99 <= 1s"))
    assert seen is not None
    assert seen.rate_per_s == pytest.approx(2_000, rel=0.1)
    assert seen.measured_s is not None
    assert 0.8 < seen.measured_s < 1.6
    assert seen.waiting == 150
    per_window = look(lines, parse_goal("mean <= 1s per window"))
    assert per_window is not None
    assert per_window.measured_s == pytest.approx(0.5, rel=0.2)


def test_too_few_batches_tell_nothing() -> None:
    goal = parse_goal("p99 <= 1s")
    assert look([], goal) is None
    assert look([made_line(np.array([0.3]), START_S)], goal) is None

"""What the benches of the model learn from is apart from what they foretell."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest

from headway.benches.foretold.steps import BEGIN_S, REST_S, Setting, Step, drained, learned_first
from headway.benches.foretold.streams import LEARNED, PLAIN, RARER, SLOWER, Turn, profile_at, turns
from headway.benches.foretold.workbench import brought_up
from headway.measure.batches import BatchLine
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import profile_of
from headway.testing.logs import made_line, made_lines

WANTED = [Step(Setting(rate, 0.4), 10.0, 3.0) for rate in (100.0, 200.0, 300.0)]


def test_each_setting_has_a_step_to_judge_by_before_and_after_it() -> None:
    steps = learned_first(WANTED, 50.0, 2)
    places = [steps.index(each) for each in WANTED]
    judged = [place for place, step in enumerate(steps) if step.judged]
    assert len(judged) == len(WANTED) + 1
    for before, place, after in zip(judged[:-1], places, judged[1:], strict=True):
        assert before < place < after
        assert {steps[before].setting.readers, steps[after].setting.readers} == {1, 2}
    assert not any(step.judged or step in WANTED for step in steps if step.learned)


def test_a_profile_is_brought_up_to_what_batches_cost_meanwhile() -> None:
    lines = made_lines(60)
    profile = profile_of(lines, "f", "micro-batch", Lanes(2, 2))
    slower = [
        replace(
            line,
            phases={n: {**p, "mean": 2 * p["mean"]} for n, p in line.phases.items()},
        )
        for line in lines[-20:]
    ]
    usual, slow = (
        np.mean(brought_up(profile, [own]).batch.ratios) for own in (lines[-20:], slower)
    )
    assert slow == pytest.approx(2 * usual, rel=1e-3)
    assert brought_up(profile, []) == profile


@pytest.mark.parametrize("full", [False, True])
def test_turns_of_real_time_mode_come_round_and_change_knobs_apart_from_what_is_looked_at(
    full: bool,
) -> None:
    every = turns(full)
    assert not every[0].looked_at
    for before, after in pairwise(every):
        assert after.begun_s == pytest.approx(before.ended_s)
        if after.knobs != before.knobs:
            assert not after.looked_at
            assert after.seconds > before.knobs.checkpoint_s
    learned = [each for each in every if each.learned]
    there_and_back = [*LEARNED, *reversed(LEARNED)]
    assert [each.rate_per_s for each in learned] == there_and_back * (4 if full else 1)
    assert {each.knobs for each in learned} == ({PLAIN, RARER} if full else {PLAIN})
    assert (SLOWER in {each.knobs for each in every}) == full


def test_what_is_learned_is_not_what_is_foretold() -> None:
    foretold = {
        (each.knobs, each.rate_per_s)
        for each in turns(full=True)
        if each.looked_at and not each.learned
    }
    assert len(foretold) == 8
    assert not foretold & {(knobs, rate) for knobs in (PLAIN, RARER) for rate in LEARNED}
    assert Turn(SLOWER, LEARNED[0], 1.0, 0.0).learned is False


def test_a_stretch_with_records_of_another_turn_teaches_nothing() -> None:
    every = [
        Turn(PLAIN, 8_000.0, 10.0, 0.0),
        Turn(PLAIN, LEARNED[0], 20.0, 10.0),
        Turn(PLAIN, 2_000.0, 10.0, 30.0),
    ]
    waited = {"mean": 0.001, "max": 0.2, "steps": []}

    def stretch(begun_s: float, rows: int) -> BatchLine:
        return made_line(
            np.full(rows, 0.01), begun_s + 10.0, started_s=begun_s, phases={"pause": waited}
        )

    begins_s = (1_000.0, 1_008.0, 1_010.5, 1_020.5, 1_030.0)
    lines = [stretch(at_s, 100 + place) for place, at_s in enumerate(begins_s)]
    found = profile_at(lines, 1_000.0, every).stream
    assert found.records == 102


def test_settings_of_each_store_are_learned_and_measured_in_one_run() -> None:
    wanted = [
        Step(Setting(rate, 0.4, 2, store), 10.0, 3.0)
        for rate, store in ((100.0, "memory"), (200.0, "rocksdb"), (300.0, "memory"))
    ]
    steps = learned_first(wanted, 50.0, 1)
    stores = [key for key, _ in groupby(step.setting.store for step in steps)]
    assert stores == ["memory", "rocksdb", "memory"]  # learned, learned and measured, measured
    learned = [step.setting for step in steps if step.learned]
    assert {each.store for each in learned} == {"memory", "rocksdb"}
    for before, step in pairwise(steps):
        if before.setting.store != step.setting.store:
            assert not step.learned
            assert not step.judged
            assert step.seconds == step.warm_s  # a new query begins slowly


def test_a_new_run_has_a_lull_before_its_first_step() -> None:
    alike = [Step(Setting(100.0, 0.4, 2, store), 5.0, 1.0) for store in ("memory", "memory")]
    other = Step(Setting(100.0, 0.4, 2, "rocksdb"), 5.0, 1.0)
    lulls = [step for step in drained([*alike, other]) if step.seconds == step.warm_s]
    assert [lull.seconds for lull in lulls] == [REST_S, REST_S, BEGIN_S]
    assert [lull.setting.store for lull in lulls] == ["memory", "memory", "rocksdb"]

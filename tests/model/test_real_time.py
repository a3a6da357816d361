"""Real-time mode foretold: what was seen, moved to another rate, wait and checkpoint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headway.errors import PlanError
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stretches import StreamCosts, Stretch
from headway.model.candidate import Candidate, Load
from headway.model.predict import predict
from headway.model.prediction import RANKS, Prediction
from headway.model.queues import vacation
from tests.model.profiles import profile, stretch

SEEN = Candidate("real-time", 1, 2, mappers=1, reducers=1, checkpoint_s=60.0)


def foretold(rate: float, candidate: Candidate = SEEN) -> Prediction:
    return predict(profile(), candidate, Load(rate))


def test_at_a_rate_that_was_seen_the_latency_is_what_was_seen() -> None:
    found = foretold(1_000)
    passing_s = sum(found.phases_s.values()) - found.phases_s["pause"]
    assert passing_s == pytest.approx(0.010, rel=0.02)
    assert sum(found.phases_s.values()) == pytest.approx(found.mean_s)
    assert found.quantile_s(0.5) == pytest.approx(0.010, rel=0.15)


def test_pauses_make_the_tail_and_rarer_ones_spare_it() -> None:
    often = foretold(1_000, replace(SEEN, checkpoint_s=10.0))
    rarely = foretold(1_000, replace(SEEN, checkpoint_s=300.0))
    assert often.quantile_s(0.99) > 0.2  # four in a hundred records meet a pause of 0.4 s
    assert rarely.quantile_s(0.99) < 0.06


def test_a_higher_rate_waits_longer_until_a_task_has_no_time_left() -> None:
    late = [foretold(rate).mean_s for rate in (1_000.0, 10_000.0, 20_000.0, 28_000.0)]
    assert late == sorted(late)
    assert foretold(1_000).saturation_per_s == pytest.approx(0.9 / 30e-6)  # the task that reduces
    assert not foretold(30_000).stable


def test_a_longer_wait_for_others_is_waited_by_half_on_average() -> None:
    stock = foretold(1_000, replace(SEEN, shuffle_wait_s=0.051))
    assert stock.phases_s["shuffle"] - foretold(1_000).phases_s["shuffle"] == pytest.approx(0.025)


def test_a_longer_wait_for_others_adds_no_tail() -> None:
    stock, quick = foretold(1_000, replace(SEEN, shuffle_wait_s=0.051)), foretold(1_000)
    for share in (0.9, 0.97):  # beyond are those that a pause holds up
        assert stock.quantile_s(share) - quick.quantile_s(share) <= 0.0501
        assert stock.quantile_s(share) - quick.quantile_s(share) > 0.03


def test_what_each_phase_takes_longer_at_a_higher_rate_is_learned() -> None:
    def seen(rate: float, fetch_s: float, seconds: float = 10.0) -> Stretch:
        phases_s = {"fetch": fetch_s}
        return replace(stretch(rate), seconds=seconds, phases_s=phases_s, steps_s={})

    def fetched_s(rate: float, *stretches: Stretch) -> float:
        known = replace(profile(), stream=StreamCosts(stretches))
        return predict(known, replace(SEEN, checkpoint_s=10.0), Load(rate)).phases_s["fetch"]

    low, high = seen(1_000, 0.002), seen(4_000, 0.0026)
    assert fetched_s(8_000, low, high) == pytest.approx(0.0034, rel=0.02)
    assert fetched_s(2_500, low, high) == pytest.approx(0.0023, rel=0.02)
    # Another time between checkpoints is another line; a phase that gets shorter is thought not to.
    assert fetched_s(8_000, low, high, seen(16_000, 0.1, 80.0)) == pytest.approx(0.0034, rel=0.05)
    assert fetched_s(8_000, low, seen(4_000, 0.001)) >= 0.001


def test_what_was_never_seen_is_not_foretold() -> None:
    nothing = JobProfile("f")
    for mode in ("micro-batch", "real-time"):
        with pytest.raises(PlanError, match=f"says nothing of {mode}"):
            predict(nothing, Candidate(mode), Load(1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rate must be more than 0"):
        predict(profile(), SEEN, Load(0.0))


def test_stretches_that_differ_make_it_less_sure() -> None:
    calm = profile()
    rough = replace(
        calm,
        stream=StreamCosts(
            tuple(
                replace(stretch(1_000.0), phases_s={"fetch": seconds})
                for seconds in (0.001, 0.02, 0.005)
            )
        ),
    )
    assert predict(rough, SEEN, Load(1_000)).margin > predict(calm, SEEN, Load(1_000)).margin


def test_polling_is_no_cost_of_a_record() -> None:
    def polling(rate: float) -> Stretch:
        return replace(stretch(rate), map_cpu_s=0.1 / rate + 20e-6, reduce_cpu_s=0.1 / rate + 30e-6)

    two = replace(profile(), stream=StreamCosts((polling(1_000.0), polling(2_000.0))))
    assert predict(two, SEEN, Load(1_000)).saturation_per_s == pytest.approx(0.9 / 30e-6, rel=0.01)
    one = replace(profile(), stream=StreamCosts((polling(1_000.0),)))
    assert predict(one, SEEN, Load(1_000)).saturation_per_s == pytest.approx(0.9 / 130e-6)


def paused(*pauses: tuple[float, float]) -> JobProfile:
    """A profile that has seen pauses: how long each was at most, and what it added on average."""
    seen = [replace(stretch(1_000.0, longest), held_s=held) for longest, held in pauses]
    return replace(profile(), stream=StreamCosts(tuple(seen)))


def test_each_pause_that_was_seen_is_as_likely_as_any_other() -> None:
    short, long, both = (
        predict(paused(*pauses), replace(SEEN, checkpoint_s=10.0), Load(1_000))
        for pauses in ([(0.2, 0.0)], [(0.6, 0.0)], [(0.6, 0.0), (0.2, 0.0)])
    )
    assert both.phases_s["pause"] == pytest.approx(
        (short.phases_s["pause"] + long.phases_s["pause"]) / 2
    )
    assert short.quantile_s(0.99) < both.quantile_s(0.99) < long.quantile_s(0.99)
    every = np.interp(np.linspace(0, 1, 10_001), RANKS, both.steps_s)
    assert every.mean() == pytest.approx(both.mean_s, rel=0.05)


def test_a_pause_that_held_up_more_records_than_its_length_says_does_so_again() -> None:
    load = 1_000 / foretold(1_000).saturation_per_s
    fluid_s = vacation(0.4, 60.0, load).mean_s
    usual, slow = (predict(paused((0.4, held)), SEEN, Load(1_000)) for held in (0.0, 3 * fluid_s))
    assert usual.phases_s["pause"] == pytest.approx(fluid_s)
    assert slow.phases_s["pause"] == pytest.approx(3 * fluid_s)
    rarer = predict(paused((0.4, 3 * fluid_s)), replace(SEEN, checkpoint_s=300.0), Load(1_000))
    assert rarer.phases_s["pause"] == pytest.approx(3 * fluid_s / 5)


def test_a_flow_that_was_never_seen_to_pause_is_not_thought_to() -> None:
    found = predict(paused((0.0, 0.0)), SEEN, Load(1_000))
    assert found.phases_s["pause"] == 0
    assert found.mean_s == pytest.approx(0.010, rel=0.02)


def test_of_what_was_seen_that_counts_which_had_checkpoints_as_far_apart() -> None:
    def slow_after(seconds: float, fetch_s: float) -> Stretch:
        return replace(stretch(1_000.0), seconds=seconds, phases_s={"fetch": fetch_s}, steps_s={})

    seen = (slow_after(10.0, 0.006), slow_after(60.0, 0.002), slow_after(300.0, 0.001))
    both = replace(profile(), stream=StreamCosts(seen))
    for every_s, fetch_s in ((10.0, 0.006), (60.0, 0.002)):
        found = predict(both, replace(SEEN, checkpoint_s=every_s), Load(1_000))
        assert found.phases_s["fetch"] == pytest.approx(fetch_s, rel=0.05)


def test_what_pauses_again_before_a_pause_is_made_good_falls_behind() -> None:
    often = replace(SEEN, checkpoint_s=2.0)
    most = foretold(1_000).saturation_per_s
    assert predict(paused((0.4, 0.001)), often, Load(0.7 * most)).stable
    assert not predict(paused((0.4, 0.001)), often, Load(0.85 * most)).stable

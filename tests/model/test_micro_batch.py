"""Micro-batch foretold: closed forms where there are some, a simulated gate where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headway.flow.goals import parse_goal
from headway.measure.costs.fits import Fit
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.model.micro_batch import predict_micro_batch
from headway.model.prediction import Prediction
from tests.model.profiles import LANES, batch_costs

EVEN = JobProfile("f", LANES, batch_costs())


def foretold(rate: float, interval_s: float, profile: JobProfile = EVEN) -> Prediction:
    candidate = Candidate("micro-batch", 1, 2, 2, 2, interval_s=interval_s)
    return predict_micro_batch(profile, candidate, Load(rate, 0.0))


def batch_s(rows: float) -> float:
    return 0.2 + 2e-6 * rows / 2 + 5e-6 * min(rows, 1_000) / 2


def test_a_batch_that_is_done_in_time_costs_half_an_interval_and_itself() -> None:
    found = foretold(1_000, 1.0)
    served_s = batch_s(1_000)
    assert found.mean_s == pytest.approx(0.5 + served_s, rel=0.01)
    assert found.quantile_s(0.99) == pytest.approx(0.99 + served_s, rel=0.01)
    assert found.variance_s2 == pytest.approx(1 / 12, rel=0.01)
    assert found.phases_s["queue"] == pytest.approx(served_s**2 / 2, rel=0.01)


def test_batches_that_follow_upon_each_other_grow_to_a_fixed_point() -> None:
    found = foretold(100_000, 0.0)
    # C = S(rate C) + 0.02, with all 1,000 keys in every batch.
    cycle_s = (0.2 + 5e-6 * 500 + 0.02) / (1 - 1e-6 * 100_000)
    assert found.mean_s == pytest.approx(cycle_s / 2 + cycle_s - 0.02, rel=0.01)


@pytest.mark.parametrize("interval_s", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("rate", [10.0, 5_000.0, 400_000.0])
def test_phases_add_up_to_the_mean(rate: float, interval_s: float) -> None:
    found = foretold(rate, interval_s)
    assert sum(found.phases_s.values()) == pytest.approx(found.mean_s, rel=0.01)


def test_a_gate_that_is_simulated_record_by_record_finds_the_same() -> None:
    ratios = tuple(np.sort(np.random.default_rng(4).gamma(8.0, 1 / 8, 200)).tolist())
    profile = JobProfile("f", LANES, batch_costs(ratios))
    rate, interval_s = 20_000.0, 0.3
    chance, decided, until, late = np.random.default_rng(9), 0.0, 0.0, []
    windows = []
    ended: list[tuple[float, float]] = []
    for _ in range(3_000):
        rows = max(1, round(rate * (decided - until)))
        came = np.linspace(until, decided, rows, endpoint=False)
        taken_s = batch_s(rows) * chance.choice(ratios)
        late.append(decided + taken_s - came)
        ended.append((decided, decided + taken_s))
        until, decided = decided, decided + max(interval_s, taken_s + 0.02)
    for (first, _), (second, done), before in zip(ended[1:-1], ended[2:], ended[:-2], strict=True):
        windows.append(done - np.linspace(before[0], first, 50))
        assert second > first
    seen, of_windows = np.concatenate(late[300:]), np.concatenate(windows[300:])
    found = foretold(rate, interval_s, profile)
    assert found.mean_s == pytest.approx(seen.mean(), rel=0.02)
    assert found.quantile_s(0.99) == pytest.approx(np.quantile(seen, 0.99), rel=0.05)
    assert found.variance_s2 == pytest.approx(seen.var(), rel=0.1)
    assert found.window_mean_s == pytest.approx(of_windows.mean(), rel=0.03)
    assert found.quantile_s(0.99, windows=True) == pytest.approx(
        np.quantile(of_windows, 0.99), rel=0.05
    )


def test_what_comes_faster_than_it_can_be_served_is_not_stable() -> None:
    most = foretold(1_000, 1.0).saturation_per_s
    assert most == pytest.approx(1e6, rel=0.05)  # 1 us a record, once batches are large
    late = foretold(most * 1.01, 1.0)
    assert not late.stable
    assert late.of(parse_goal("p99 <= 1s")) == float("inf")
    assert foretold(most * 0.9, 1.0).stable


def test_more_lanes_serve_a_larger_batch_in_the_same_time() -> None:
    here = foretold(300_000, 0.5)
    larger = Candidate("micro-batch", 4, 2, 8, 8, interval_s=0.5)
    there = predict_micro_batch(EVEN, larger, Load(1_200_000, 0.0))
    assert there.mean_s == pytest.approx(here.mean_s, rel=0.1)
    assert there.saturation_per_s > 3 * here.saturation_per_s


def test_a_profile_that_saw_little_is_less_sure() -> None:
    rough = JobProfile("f", LANES, batch_costs((0.5, 1.5) * 8))
    sure = JobProfile("f", LANES, batch_costs((0.99, 1.01) * 100))
    candidate, load = Candidate("micro-batch", 1, 2, 2, 2), Load(100.0)
    assert (
        predict_micro_batch(rough, candidate, load).margin
        > predict_micro_batch(sure, candidate, load).margin
        > 0
    )


def test_stragglers_that_are_waited_for_make_windows_later() -> None:
    candidate = Candidate("micro-batch", 1, 2, 2, 2)
    plain = predict_micro_batch(EVEN, candidate, Load(100.0))
    patient = predict_micro_batch(EVEN, candidate, replace(Load(100.0), lateness_s=2.0))
    assert patient.window_mean_s == pytest.approx(plain.window_mean_s + 2.0)


def test_nothing_is_promised_of_batches_that_are_far_larger_than_those_seen() -> None:
    small = replace(EVEN, batch=replace(batch_costs(), largest=1_024.0))
    assert foretold(200.0, 30.0, small).stable
    assert not foretold(10_000.0, 30.0, small).stable
    assert foretold(10_000.0, 0.5, small).stable


def test_a_lone_record_finds_that_the_interval_has_passed() -> None:
    lone, many = (foretold(rate, 0.5) for rate in (0.02, 100.0))
    service_s = many.mean_s - 0.25
    assert lone.mean_s == pytest.approx(service_s, rel=0.05)
    assert sum(lone.phases_s.values()) == pytest.approx(lone.mean_s, rel=0.02)


def test_cores_of_other_nodes_start_their_tasks_at_the_same_time() -> None:
    launching = batch_costs()
    launching = replace(
        launching,
        phases_s={**launching.phases_s, "launch": Fit().seen(1, 0.02, 1).seen(2, 0.04, 1)},
    )
    known = replace(EVEN, batch=launching)
    one, ten = (
        predict_micro_batch(known, Candidate("micro-batch", n, 2, 2 * n, 2 * n), Load(1.0, 0.0))
        for n in (1, 10)
    )
    assert ten.phases_s["launch"] == pytest.approx(one.phases_s["launch"], rel=0.01)
    crowded = Candidate("micro-batch", 1, 2, 8, 2)
    assert predict_micro_batch(known, crowded, Load(1.0, 0.0)).phases_s["launch"] > 0.08

"""Waiting times: what theory knows exactly, and what a simulation of the queue finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.measure.moments import Moments
from headway.model.queues import (
    bound_wait_s,
    clocked_wait,
    load_of,
    mean_wait_s,
    vacation,
    wait_variance_s2,
)


def exponential(mean: float) -> Moments:
    return Moments(1, mean, 2 * mean**2, 6 * mean**3)


def constant(value: float) -> Moments:
    return Moments(1, value, value**2, value**3)


def simulated_s(gaps: np.ndarray, service: np.ndarray) -> np.ndarray:
    """Lindley, one customer after the other; the first tenth is warm-up."""
    waits, wait = np.empty(len(gaps)), 0.0
    for n, (gap, taken) in enumerate(zip(gaps, service, strict=True)):
        waits[n] = wait
        wait = max(0.0, wait + taken - gap)
    return waits[len(waits) // 10 :]


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_poisson_arrivals_and_exponential_service_wait_as_theory_says(rho: float) -> None:
    came, served = exponential(1.0), exponential(rho)
    assert mean_wait_s(came, served) == pytest.approx(rho**2 / (1 - rho))
    # W is 0 with 1 - rho, else exponential with mean s / (1 - rho).
    whole = rho * 2 * (rho / (1 - rho)) ** 2
    assert wait_variance_s2(came, served) == pytest.approx(whole - (rho**2 / (1 - rho)) ** 2)


@pytest.mark.parametrize("rho", [0.5, 0.8, 0.95])
def test_a_constant_service_waits_half_as_long(rho: float) -> None:
    came = exponential(1.0)
    assert mean_wait_s(came, constant(rho)) == pytest.approx(rho**2 / (1 - rho) / 2)


@pytest.mark.parametrize(("shape", "rho"), [(4.0, 0.7), (4.0, 0.9), (0.5, 0.7), (0.5, 0.9)])
def test_other_arrivals_wait_as_a_simulation_of_them_does(shape: float, rho: float) -> None:
    chance = np.random.default_rng(3)
    gaps = chance.gamma(shape, 1 / shape, 200_000)
    service = chance.gamma(2.0, rho / 2, 200_000)
    came, served = Moments.of(gaps), Moments.of(service)
    seen = simulated_s(gaps, service)
    assert mean_wait_s(came, served) == pytest.approx(seen.mean(), rel=0.15)
    assert wait_variance_s2(came, served) ** 0.5 == pytest.approx(seen.std(), rel=0.3)


@given(st.floats(0.05, 4.0), st.floats(0.05, 4.0), st.floats(0.05, 0.97))
def test_kingman_bounds_every_wait(ca2: float, cs2: float, rho: float) -> None:
    came = Moments(1, 1.0, 1 + ca2, 0.0)
    served = Moments(1, rho, rho**2 * (1 + cs2), 0.0)
    assert 0 <= mean_wait_s(came, served) <= bound_wait_s(came, served) * (1 + 1e-9)


def test_a_queue_that_gets_more_than_it_can_do_waits_for_ever() -> None:
    came, served = constant(1.0), constant(1.0)
    assert load_of(came, served) == 1.0
    for wait in (mean_wait_s, bound_wait_s, wait_variance_s2):
        assert wait(came, served) == float("inf")
    assert clocked_wait([2.0], 1.0).min() == float("inf")


def test_work_by_the_clock_waits_as_lindley_says() -> None:
    chance = np.random.default_rng(5)
    service = chance.gamma(3.0, 0.27, 60_000)  # mean 0.81 of an interval
    seen = simulated_s(np.ones(len(service)), service)
    ranks = (np.arange(400) + 0.5) / 400
    found = clocked_wait(np.quantile(service, ranks).tolist(), 1.0)
    assert found.mean() == pytest.approx(seen.mean(), rel=0.05)
    assert np.quantile(found, 0.99) == pytest.approx(np.quantile(seen, 0.99), rel=0.1)


def test_work_that_is_always_done_in_time_never_waits() -> None:
    assert clocked_wait([0.1, 0.9], 1.0).max() == 0.0


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.8])
def test_a_pause_costs_what_a_simulation_of_it_costs(rho: float) -> None:
    pause_s, every_s, gap_s = 0.5, 10.0, 0.001
    came = np.arange(0, 100, gap_s)
    waits, free_s = np.empty(len(came)), 0.0
    for n, at_s in enumerate(came):
        begin_s = max(at_s, free_s)
        if begin_s % every_s < pause_s:
            begin_s += pause_s - begin_s % every_s
        waits[n] = begin_s - at_s
        free_s = begin_s + rho * gap_s
    cost = vacation(pause_s, every_s, rho)
    assert cost.mean_s == pytest.approx(waits.mean(), rel=0.03)
    assert cost.variance_s2 == pytest.approx(waits.var(), rel=0.03)
    assert cost.share == pytest.approx((waits > 1e-9).mean(), rel=0.03)


def test_a_server_that_is_away_too_often_never_catches_up() -> None:
    assert vacation(1.0, 1.5, 0.5).longest_s == float("inf")
    assert vacation(0.1, 10.0, 1.0).mean_s == float("inf")

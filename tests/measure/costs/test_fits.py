"""A fit finds the line, is never negative, learns and forgets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.measure.costs.fits import Fit, Growth

points = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 100)), min_size=1, max_size=30)


def fit_of(seen: list[tuple[float, float]]) -> Fit:
    fit = Fit()
    for x, y in seen:
        fit = fit.seen(x, y)
    return fit


@given(st.floats(0, 10), st.floats(0, 0.01))
def test_points_on_a_line_give_the_line(fixed: float, each: float) -> None:
    fit = fit_of([(x, fixed + each * x) for x in (10, 100, 1_000, 100_000)])
    for x in (0, 50, 10_000):
        assert fit.at(x) == pytest.approx(fixed + each * x, rel=1e-3, abs=1e-6)


@given(points)
def test_a_cost_is_never_negative_and_never_falls(seen: list[tuple[float, float]]) -> None:
    fixed, each = fit_of(seen).line
    assert fixed >= 0
    assert each >= 0


@given(points, points)
def test_fits_add_up(left: list[tuple[float, float]], right: list[tuple[float, float]]) -> None:
    both = fit_of(left).together(fit_of(right))
    whole = fit_of(left + right)
    for name, value in both.as_dict().items():
        assert value == pytest.approx(whole.as_dict()[name], rel=1e-9)


def test_what_is_new_outweighs_what_is_forgotten() -> None:
    old, new = fit_of([(100, 1.0)] * 10), fit_of([(100, 3.0)] * 10)
    assert old.together(new, keep=0.1).at(100) == pytest.approx(2.82, abs=0.01)


def test_a_large_batch_does_not_hide_what_is_fixed() -> None:
    chance = np.random.default_rng(1)
    seen = [(x, (0.1 + 1e-5 * x) * chance.lognormal(0, 0.1)) for x in [10, 1_000, 100_000] * 20]
    fixed, each = fit_of(seen).line
    assert fixed == pytest.approx(0.1, rel=0.1)
    assert each == pytest.approx(1e-5, rel=0.15)


def test_distinct_keys_grow_ever_slower_until_all_are_there() -> None:
    growth = Growth()
    chance = np.random.default_rng(2)
    for size in (100, 1_000, 10_000):
        keys = np.minimum(chance.zipf(1.3, size), 100_000)
        growth = growth.seen(size, len(np.unique(keys)))
    assert growth.at(10) <= 100
    assert growth.at(2_000) < 2 * growth.at(1_000)
    wanted = len(np.unique(np.minimum(chance.zipf(1.3, 3_000), 100_000)))
    assert growth.at(3_000) == pytest.approx(wanted, rel=0.25)
    assert Growth().seen(0, 3).at(10) == 0.0


def test_a_share_of_the_records_stays_that_share_at_any_size() -> None:
    growth = Growth()
    for size in (10, 1_000, 100_000):
        growth = growth.seen(size, size / 2)
    assert growth.at(1_000_000) == pytest.approx(500_000, rel=1e-6)


def test_keys_that_are_all_there_grow_no_more() -> None:
    growth = Growth()
    for size, keys in ((10, 10), (100, 80), (1_000, 200), (10_000, 200), (100_000, 200)):
        growth = growth.seen(size, keys)
    assert growth.at(5_000) == pytest.approx(200, rel=0.01)
    assert growth.at(10_000_000) == pytest.approx(200, rel=0.01)
    assert growth.at(10) == pytest.approx(10, rel=0.01)


def test_growth_forgets() -> None:
    both = Growth().seen(100, 50).seen(1_000, 100).together(Growth().seen(100, 100), keep=0.1)
    assert 90 < both.at(100) < 100


def test_what_is_all_but_forgotten_bends_no_curve() -> None:
    growth = Growth()
    for size, keys in ((100, 90), (5_000, 1_000), (20_000, 3_700)):
        growth = growth.seen(size, keys)
    for _ in range(3_000):
        growth = growth.faded(0.97).seen(5_000, 1_000)
    assert growth.at(5_000) == pytest.approx(1_000, rel=0.01)
    assert len(growth.steps) == 1

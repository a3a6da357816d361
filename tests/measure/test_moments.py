"""Moments add up over batches, and arrivals of several partitions are one stream."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.measure.moments import Moments, between_arrivals

times = st.lists(st.floats(0, 100), max_size=20)


@given(st.lists(times, max_size=5))
def test_the_moments_of_parts_together_are_those_of_all_values(parts: list[list[float]]) -> None:
    together = Moments.together(Moments.of(part) for part in parts)
    whole = Moments.of([value for part in parts for value in part])
    assert together.count == whole.count
    for name in ("first", "second", "third"):
        assert getattr(together, name) == pytest.approx(getattr(whole, name))


def test_a_poisson_stream_over_partitions_has_a_variation_of_one() -> None:
    chance = np.random.default_rng(3)
    arrivals = np.cumsum(chance.exponential(1_000, 60_000)).astype(np.int64)
    where = chance.integers(0, 3, len(arrivals))
    found = between_arrivals([arrivals[where == partition] for partition in range(3)])
    assert found.first == pytest.approx(0.001, rel=0.03)
    assert found.variation == pytest.approx(1.0, rel=0.05)
    assert found.third == pytest.approx(6 * 0.001**3, rel=0.2)


def test_a_steady_stream_has_none() -> None:
    assert between_arrivals([np.arange(0, 100_000, 500)]).variation == pytest.approx(0.0, abs=1e-9)


def test_only_the_time_that_all_partitions_cover_counts() -> None:
    slow, fast = np.array([0, 1_000_000]), np.array([900_000, 950_000, 1_000_000, 1_050_000])
    assert between_arrivals([slow, fast]).count == 3  # 0.9, 0.95, 1.0, 1.0


def test_nothing_is_told_of_nothing() -> None:
    assert between_arrivals([np.array([5], dtype=np.int64)]) == Moments()
    assert Moments.from_dict(Moments.of([2.0]).as_dict()) == Moments(1, 2.0, 4.0, 8.0)

"""Quantiles from moments: exact for what is normal, a bound for whatever else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.model.quantiles import cantelli_s, normal_s

SHARES = st.floats(0.5, 0.999)


def test_a_normal_latency_has_the_quantile_of_its_distribution() -> None:
    drawn = np.random.default_rng(1).normal(2.0, 0.3, 400_000)
    assert normal_s(0.99, 2.0, 0.09) == pytest.approx(np.quantile(drawn, 0.99), rel=0.01)


@given(SHARES, st.lists(st.floats(0.001, 100.0), min_size=2, max_size=200))
def test_cantelli_is_never_exceeded(share: float, values: list[float]) -> None:
    seen = np.asarray(values)
    quantile = np.quantile(seen, share, method="inverted_cdf")
    assert cantelli_s(share, float(seen.mean()), float(seen.var())) >= quantile - 1e-9

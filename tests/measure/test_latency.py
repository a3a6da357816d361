"""Latency of many records as a small summary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.measure.latency import Ages, AgesTally, Latency

TIMES = st.lists(st.floats(0, 100), min_size=1, max_size=60)


@given(TIMES, TIMES)
def test_latencies_add_up(left: list[float], right: list[float]) -> None:
    both, whole = Latency.of(left) + Latency.of(right), Latency.of(left + right)
    assert both.count == whole.count
    assert both.mean_s == pytest.approx(whole.mean_s)
    assert both.variance_s2 == pytest.approx(whole.variance_s2, abs=1e-6)
    assert (both.min_s, both.max_s) == (whole.min_s, whole.max_s)
    for q in (0.01, 0.5, 0.9, 0.99, 1.0):
        assert both.quantile(q) == whole.quantile(q)


@given(TIMES)
def test_nothing_added_changes_nothing(times: list[float]) -> None:
    seen = Latency.of(times)
    assert (seen + Latency.none()).as_dict() == (Latency.none() + seen).as_dict() == seen.as_dict()


def test_a_quantile_is_what_that_share_did_not_exceed() -> None:
    seen = Latency.of(np.arange(1, 1001) / 1000)
    assert seen.quantile(0.99) == 0.99
    assert seen.quantile(1.0) == 1.0
    assert Latency.none().quantile(0.99) == 0.0


def test_ages_moved_to_publication_are_latencies() -> None:
    chance = np.random.default_rng(1)
    arrivals_us = (1.8e15 + chance.gamma(2.0, 2e5, 50_000)).astype(np.int64)
    decided_us = int(arrivals_us.max())
    rows = []
    for part in np.array_split(arrivals_us, 3):
        tally = AgesTally(decided_us)
        for block in np.array_split(part, 4):
            tally.add(block)
        told = tally.told(blank=2)
        rows.append({
            "sum": told.sum_s, "squares": told.squares_s2, "sketch": told.sketch, "blank": 2,
        })  # fmt: skip
    ages = Ages.from_rows(rows)
    assert ages is not None
    assert ages.blank == 6
    found = Latency.later(ages, 0.3)
    exact = Latency.of((decided_us + 300_000 - arrivals_us) / 1e6)
    assert found.count == exact.count
    assert found.mean_s == pytest.approx(exact.mean_s)
    assert found.variance_s2 == pytest.approx(exact.variance_s2)
    assert found.min_s == pytest.approx(0.3, abs=1e-6)
    assert found.max_s == pytest.approx(exact.max_s, abs=1e-6)
    for q in (0.5, 0.9, 0.99):
        assert exact.quantile(q - 0.005) <= found.quantile(q) <= exact.quantile(q + 0.005)


def test_a_batch_without_records_has_no_latency() -> None:
    assert Latency.later(Ages.from_rows([]), 5.0).count == 0


@given(st.lists(st.floats(0, 10), min_size=100, max_size=400))
def test_what_a_line_keeps_tells_the_tail(times: list[float]) -> None:
    seen = Latency.of(times)
    again = Latency.from_steps(seen.as_dict(), seen.steps())
    assert again.count == seen.count
    assert again.max_s == pytest.approx(seen.max_s, abs=1e-6)
    for q in (0.5, 0.9, 0.99):
        low, high = seen.quantile(q - 0.05), seen.quantile(min(1.0, q + 0.05))
        assert low - 1e-6 <= again.quantile(q) <= high + 1e-6


def test_a_record_stamped_in_the_future_makes_no_latency_negative_and_no_other_longer() -> None:
    seen = Latency.of([-5.0, 0.1, 0.4]).not_negative()
    assert (seen.min_s, seen.quantile(0.5), seen.max_s) == (0.0, 0.1, 0.4)
    assert seen.mean_s == pytest.approx(0.5 / 3)
    late = Latency.of([0.1, 0.2])
    assert late.not_negative() is late

"""A run's summary says what its batches say, taken together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.measure.latency import Latency
from headway.measure.summary import (
    account_of,
    latency_from_figures,
    latency_of,
    split_warmup,
    summarise,
)
from headway.testing.logs import START_S, made_line, made_lines


def test_the_latency_of_a_line_is_that_of_its_records() -> None:
    ages_s = np.random.default_rng(1).gamma(2.0, 0.2, 20_000)
    read = latency_of(made_line(ages_s, START_S))
    assert read.count == 20_000
    assert read.mean_s == pytest.approx(ages_s.mean(), abs=1e-5)
    assert read.max_s == pytest.approx(ages_s.max(), abs=1e-5)
    low_s, high_s = np.quantile(ages_s, [0.985, 0.995])
    assert low_s <= read.quantile(0.99) <= high_s


def test_the_p99_of_a_run_is_that_of_all_its_records_and_not_a_mean_of_batches() -> None:
    fast, slow = np.full(9_000, 0.1), np.full(1_000, 2.0)
    lines = [made_line(fast, START_S), made_line(slow, START_S + 1, batch=1)]
    summary = summarise(lines)
    assert summary.latency.count == 10_000
    assert summary.latency.quantile(0.5) == pytest.approx(0.1, abs=1e-5)
    assert summary.latency.quantile(0.99) == pytest.approx(2.0, abs=1e-5)


def test_the_warm_up_counts_in_the_account_alone() -> None:
    lines = made_lines(30)
    cold, warm = summarise(lines), summarise(lines, warmup=3)
    assert warm.warmup == 3
    assert warm.batches == 27
    assert warm.latency.max_s < 2 < cold.latency.max_s
    assert warm.account == cold.account == account_of(lines)


def test_empty_batches_do_not_use_up_the_warm_up() -> None:
    empty = made_line(np.empty(0), START_S)
    lines = [empty, *(replace(line, batch=line.batch + 1) for line in made_lines(5))]
    warm, kept = split_warmup(lines, 2)
    assert [line.batch for line in warm] == [0, 1, 2]
    assert [line.batch for line in kept] == [3, 4, 5]


def test_each_query_has_its_own_warm_up() -> None:
    lines = [line for pair in zip(made_lines(4, query="a"), made_lines(4, query="b"), strict=True)
             for line in pair]  # fmt: skip
    warm, kept = split_warmup(lines, 3)
    assert sorted((line.query, line.batch) for line in kept) == [("a", 3), ("b", 3)]
    assert len(warm) == 6


def test_a_run_shorter_than_its_warm_up_is_measured_whole() -> None:
    summary = summarise(made_lines(2), warmup=3)
    assert summary.warmup == 0
    assert summary.batches == 2


def test_the_rate_is_counted_from_the_end_of_the_warm_up() -> None:
    summary = summarise(made_lines(60), warmup=3)
    assert summary.rate_per_s == pytest.approx(2000, rel=0.05)


def test_no_batch_at_all_is_a_summary_of_nothing() -> None:
    found = summarise([]).as_dict()
    assert found["records"] == found["rate_per_s"] == 0
    assert found["latency_s"] == found["window_latency_s"] == {}
    assert found["balanced"]


def test_accounts_of_several_queries_add_up() -> None:
    lines = made_lines(3, query="a") + made_lines(4, query="b")
    total = account_of(lines)
    assert total.waiting == 300
    assert total.arrived == lines[2].account["arrived"] + lines[-1].account["arrived"]
    assert total.balanced


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=300))
def test_a_latency_read_from_figures_has_those_figures(ages_s: list[float]) -> None:
    figures = Latency.of(ages_s).as_dict()
    read = latency_from_figures(figures).as_dict()
    for name in ("count", "mean", "min", "max", "p50", "p90", "p99", "p999"):
        assert read[name] == pytest.approx(figures[name], abs=2e-6), name

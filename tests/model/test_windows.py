"""The latency of windows: the last record over all mappers, then one key after the other."""

from __future__ import annotations

import numpy as np
import pytest

from headway.model.windows import Spread, finalize, largest_of, last_record, window_latency


@pytest.mark.parametrize("count", [1, 2, 8, 40])
def test_the_largest_of_many_is_what_drawing_them_finds(count: int) -> None:
    drawn = np.random.default_rng(count).normal(size=(100_000, count)).max(axis=1)
    mean, deviation = largest_of(count)
    assert mean == pytest.approx(drawn.mean(), abs=0.02)
    assert deviation == pytest.approx(drawn.std(), abs=0.02)


def test_one_mapper_has_no_last_of_several() -> None:
    last = last_record(Spread(0.4, 0.01), 1)
    assert last.mean_s == pytest.approx(0.4, abs=1e-4)
    assert last.variance_s2 == pytest.approx(0.01, rel=0.01)


def test_keys_are_finalized_one_after_the_other() -> None:
    ends = np.arange(1, 51) * 0.002
    assert finalize(50, 0.002).mean_s == pytest.approx(ends.mean())
    assert finalize(50, 0.002).variance_s2 == pytest.approx(ends.var())
    assert finalize(0, 1.0) == Spread(0.0, 0.0)


def test_more_mappers_and_more_keys_make_a_window_later() -> None:
    record = Spread(0.5, 0.04)
    few, many = window_latency(record, 2, 10, 0.001), window_latency(record, 20, 1_000, 0.001)
    assert record.mean_s < few.mean_s < many.mean_s

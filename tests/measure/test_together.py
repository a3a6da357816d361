"""Several times of a record come out of a sketch as they went in, and belong together."""

from __future__ import annotations

import numpy as np
import pytest
from datasketches import kll_doubles_sketch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from headway.measure.latency import SKETCH_K
from headway.measure.together import SHORT_MS, Together, split

rooms_of = st.sampled_from([(), (SHORT_MS,), (SHORT_MS, SHORT_MS)])
whole = st.integers(-(2**24), 2**24)
rest = st.integers(0, SHORT_MS - 1)


def sketch_of(numbers: NDArray[np.float64]) -> bytes:
    """A sketch as a task would send it."""
    sketch = kll_doubles_sketch(SKETCH_K)
    sketch.update(numbers)
    return bytes(sketch.serialize())


@given(whole, rest, rest)
def test_the_times_of_a_number_come_out_as_they_went_in(first: int, middle: int, last: int) -> None:
    number = (float(first) * SHORT_MS + middle) * SHORT_MS + last
    assert [times[0] for times in split(np.array([number]), (SHORT_MS, SHORT_MS))] == [
        first,
        middle,
        last,
    ]


def test_a_sketch_of_many_records_is_a_sample_whose_parts_add_up() -> None:
    rng = np.random.default_rng(7)
    short, queued = rng.integers(0, 9, 60_000), rng.integers(0, 90, 60_000)
    whole_ms = short + queued + rng.integers(0, 5, 60_000)
    packed = (whole_ms * float(SHORT_MS) + short) * SHORT_MS + queued
    found = Together.from_sketch(sketch_of(packed), SHORT_MS, SHORT_MS)
    assert found is not None
    assert len(found.weights) < 5_000
    assert (found.times_s[0] >= found.times_s[1] + found.times_s[2] - 1e-9).all()
    latency = found.latency()
    assert latency.count == 60_000
    assert (latency.min_s, latency.max_s) == (whole_ms.min() / 1e3, whole_ms.max() / 1e3)
    assert latency.mean_s == pytest.approx(whole_ms.mean() / 1e3, rel=0.002)
    assert latency.quantile(0.99) == pytest.approx(np.quantile(whole_ms, 0.99) / 1e3, rel=0.02)
    assert found.latency(1).mean_s == pytest.approx(short.mean() / 1e3, rel=0.03)
    assert found.latency(2).mean_s == pytest.approx(queued.mean() / 1e3, rel=0.01)


@given(rooms_of)
def test_a_sketch_of_nothing_holds_no_records(rooms: tuple[int, ...]) -> None:
    assert Together.from_sketch(sketch_of(np.empty(0)), *rooms) is None


def test_of_a_first_time_of_weeks_only_the_last_bits_are_lost() -> None:
    weeks_ms, middle, last = 3 * 7 * 86_400_000, 12, 900
    packed = (float(weeks_ms) * SHORT_MS + middle) * SHORT_MS + last
    found = [float(times[0]) for times in split(np.array([packed]), (SHORT_MS, SHORT_MS))]
    assert found[:2] == [weeks_ms, middle]
    assert abs(found[2] - last) <= 32

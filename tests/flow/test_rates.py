"""When the records of a replayed topic fall due."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import FlowError
from headway.flow.rates import parse_rate

STEPS = st.tuples(st.sampled_from(["1s", "250ms", "3s"]), st.integers(1, 5_000))
SCHEDULES = st.lists(STEPS, min_size=1, max_size=4)


@given(SCHEDULES, st.floats(0, 20))
def test_what_is_due_is_what_fell_due_before(schedule: list[tuple[str, int]], now_s: float) -> None:
    rate = parse_rate(schedule)
    count = rate.due_by(now_s)
    assert count is not None
    due = rate.due_us(0, count + 2)
    assert due[count - 1] <= now_s * 1e6 + 1
    assert due[count + 1] >= now_s * 1e6 - 1
    assert (np.diff(due) >= 0).all()


@given(SCHEDULES, st.integers(0, 1000), st.integers(0, 1000))
def test_due_times_do_not_depend_on_the_range_asked(
    schedule: list[tuple[str, int]], first: int, more: int
) -> None:
    rate = parse_rate(schedule)
    assert (rate.due_us(0, first + more)[first:] == rate.due_us(first, first + more)).all()


def test_no_rate_means_all_at_once() -> None:
    assert parse_rate(None).due_by(0.0) is None
    assert parse_rate(None).due_us(3, 6).tolist() == [0, 0, 0]


@pytest.mark.parametrize("rate", [0, -1, float("inf"), [], [("1s", 0)]])
def test_what_is_no_rate_is_refused(rate: float) -> None:
    with pytest.raises(FlowError, match="rate"):
        parse_rate(rate)

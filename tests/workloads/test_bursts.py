"""Bursts are a schedule that a replay accepts, with the peak where it was asked for."""

from __future__ import annotations

import pytest

from headway.flow.rates import parse_rate
from headway.workloads.makers.bursts import bursts


def test_the_rate_rises_at_the_end_of_each_period_and_stays_low_after_the_last() -> None:
    schedule = parse_rate(bursts(10, 100, every="30s", length="5s", times=2))
    #  0          25  30          55  60
    #  |--- 10 ---|100|--- 10 ---|100|--- 10 ...
    rates = [schedule.rate_at(second) for second in (0, 24, 26, 31, 54, 56, 61, 1_000)]
    assert rates == [10, 10, 100, 10, 10, 100, 10, 10]
    assert schedule.due_by(30) == 25 * 10 + 5 * 100 + 1


@pytest.mark.parametrize(
    ("every", "length", "times"), [("5s", "5s", 1), ("5s", "0s", 1), ("5s", "1s", 0)]
)
def test_bursts_that_cannot_be_are_refused(every: str, length: str, times: int) -> None:
    with pytest.raises(ValueError, match="got"):
        bursts(1, 2, every, length, times)

"""When the next batch starts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.keep.pacing import Admit, Pace, Seen, Wait, choose_batch

IDLE = Seen(10.0, 0, windows_to_close=False, end_to_mark=False, stopping=False)


def test_nothing_starts_before_the_interval_has_passed() -> None:
    seen = replace(IDLE, waiting=100, since_last_start_s=0.2)
    assert choose_batch(seen, Pace(interval_s=0.5)) == Wait(0.3, "the interval has not passed")


def test_an_overdue_batch_starts_at_once_with_all_that_waits() -> None:
    assert choose_batch(replace(IDLE, waiting=100), Pace()) == Admit(None, "100 waiting, 100 taken")


def test_a_batch_takes_no_more_than_it_may() -> None:
    wanted = choose_batch(replace(IDLE, waiting=100), Pace(max_rows=30))
    assert wanted == Admit(30, "100 waiting, 30 taken")


def test_a_batch_without_records_closes_windows() -> None:
    assert choose_batch(replace(IDLE, windows_to_close=True), Pace()) == Admit(
        0, "windows to close"
    )


def test_the_end_is_marked_when_nothing_waits_any_more() -> None:
    seen = replace(IDLE, end_to_mark=True)
    assert choose_batch(seen, Pace()) == Admit(0, "the topic has ended")
    assert choose_batch(replace(seen, waiting=1), Pace()) == Admit(None, "1 waiting, 1 taken")


def test_a_run_that_stops_admits_nothing() -> None:
    assert isinstance(choose_batch(replace(IDLE, waiting=9, stopping=True), Pace()), Wait)


@pytest.mark.parametrize("wrong", [{"interval_s": -1}, {"max_rows": 0}, {"readers": 0}])
def test_a_pace_that_is_none_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"must|at least"):
        Pace(**wrong)

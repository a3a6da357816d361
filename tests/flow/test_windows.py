"""Windows that are open at the start and closed at the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.flow.windows import Window

WINDOWS = st.builds(
    lambda size, slide, origin: Window(size, min(size, slide), 0, origin),
    st.integers(1, 50),
    st.integers(1, 50),
    st.integers(0, 30),
)


@given(WINDOWS, st.integers(0, 500))
def test_a_time_lies_in_exactly_the_windows_that_cover_it(window: Window, time: int) -> None:
    every = range(window.origin_us + window.size_us, time + 200, window.slide_us)
    covering = [end for end in every if end - window.size_us < time <= end]
    assert window.ends_of(time) == covering


@given(WINDOWS, st.integers(100, 500))
def test_the_last_end_is_the_last_of_the_ends(window: Window, time: int) -> None:
    assert window.last_end(time) == window.ends_of(time)[-1]


@given(WINDOWS, st.integers(0, 300), st.integers(0, 300))
def test_a_window_closes_between_two_times_if_it_ends_there(
    window: Window, before: int, more: int
) -> None:
    after = before + more
    start = window.origin_us - 10 * window.slide_us
    ends = range(start, after + 1, window.slide_us)
    assert window.closes_between(before, after) == any(before < end <= after for end in ends) or (
        before < window.origin_us
    )

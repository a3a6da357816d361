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


def ends_around(window: Window, low: int, high: int) -> list[int]:
    """The end of every window that ends between two times, by counting from the origin."""
    numbers = range(-1000, 1000)
    ends = [window.origin_us + window.size_us + number * window.slide_us for number in numbers]
    return [end for end in ends if low <= end <= high]


@given(WINDOWS, st.integers(0, 300))
def test_a_time_lies_in_exactly_the_windows_that_cover_it(window: Window, time: int) -> None:
    around = ends_around(window, time - 100, time + 100)
    assert window.ends_of(time) == [end for end in around if end - window.size_us < time <= end]


@given(WINDOWS, st.integers(0, 300))
def test_every_time_lies_in_a_window_and_the_last_of_them_is_known(
    window: Window, time: int
) -> None:
    assert window.last_end(time) == window.ends_of(time)[-1]


@given(WINDOWS, st.integers(0, 300), st.integers(0, 300))
def test_some_window_closes_between_two_times_if_its_end_lies_there(
    window: Window, before: int, more: int
) -> None:
    ends = ends_around(window, before + 1, before + more)
    assert window.closes_between(before, before + more) == bool(ends)

"""Time windows by range and slide, and the arithmetic that assigns a time to them.

A window is ``(t0 + i*slide, t0 + size + i*slide]``: open at its start, closed at its end (paper 1,
section 2.1). t0 only aligns them: windows that began before it are windows too, so that each record
lies in some. Times are whole microseconds, so the ends are exact.

    time      0        10        20        30        40
    size 20   (---------0---------]
    slide 10            (---------1---------]
                                  (---------2---------]
    t = 20 lies in windows 0 and 1;  t = 20.000001 in 1 and 2
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.errors import FlowError
from headway.units import Duration, format_duration, parse_micros

END_OF_TIME_US = 253_370_764_800_000_000  # 9999-01-01: the time of the marker that ends a stream


@dataclass(frozen=True, slots=True)
class Window:
    """Range, slide, first start (`origin_us`) and how long stragglers are waited for."""

    size_us: int
    slide_us: int
    lateness_us: int = 0
    origin_us: int = 0

    def __str__(self) -> str:
        text = format_duration(self.size_us / 1e6)
        if self.slide_us != self.size_us:
            text += f" every {format_duration(self.slide_us / 1e6)}"
        if self.lateness_us:
            text += f", {format_duration(self.lateness_us / 1e6)} late"
        return text

    @property
    def exact(self) -> str:
        """All that the window is, to the microsecond."""
        return f"{self.size_us}/{self.slide_us}+{self.lateness_us}@{self.origin_us}us"

    @property
    def tumbling(self) -> bool:
        """Whether each time lies in exactly one window."""
        return self.size_us == self.slide_us

    def ends_of(self, time_us: int) -> list[int]:
        """The ends of the windows that hold `time_us`, earliest first; an end names its window.

        >>> Window(20, 10).ends_of(20), Window(20, 10).ends_of(21), Window(20, 10).ends_of(5)
        ([20, 30], [30, 40], [10, 20])
        >>> Window(10, 3).ends_of(21)
        [22, 25, 28]
        """
        return list(range(self.last_end(time_us), time_us - 1, -self.slide_us))[::-1]

    def last_end(self, time_us: int) -> int:
        """The end of the last window that holds `time_us`: when it has closed, the time is late."""
        steps = (time_us - 1 - self.origin_us) // self.slide_us
        return self.origin_us + steps * self.slide_us + self.size_us

    def closes_between(self, before_us: int, after_us: int) -> bool:
        """Whether some window ends after `before_us` and at or before `after_us`.

        >>> Window(20, 10).closes_between(20, 29), Window(20, 10).closes_between(20, 30)
        (False, True)
        """
        first_end = self.origin_us + self.size_us
        return (after_us - first_end) // self.slide_us > (before_us - first_end) // self.slide_us


def parse_window(
    size: Duration, slide: Duration | None, lateness: Duration, origin_us: int = 0
) -> Window:
    """Build a window from what a user wrote, refusing what cannot be a window."""
    try:
        size_us = parse_micros(size, "window size")
        slide_us = size_us if slide is None else parse_micros(slide, "window slide")
        lateness_us = parse_micros(lateness, "allowed lateness")
    except ValueError as error:
        raise FlowError(str(error)) from None
    if size_us <= 0:
        raise FlowError(f"window size must be positive; got {size!r}")
    if slide_us <= 0:
        raise FlowError(f"window slide must be positive; got {slide!r}")
    if slide_us > size_us:
        raise FlowError(
            f"window slide {slide!r} is larger than its size {size!r}, so some records would lie "
            "in no window; make the slide at most the size"
        )
    for what, micros in (("size", size_us), ("slide", slide_us), ("lateness", lateness_us)):
        if micros % 1_000:
            raise FlowError(f"window {what} must be whole milliseconds; got {micros} us")
    return Window(size_us, slide_us, lateness_us, origin_us)

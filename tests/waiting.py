"""Tests wait for what comes in its own time: until it is there, and not for ever."""

from __future__ import annotations

from collections.abc import Callable

from headway.clock import SystemClock

CLOCK = SystemClock()


def until(ready: Callable[[], bool], within_s: float = 60.0) -> None:
    """Return as soon as something is so; fail if it never is."""
    deadline = CLOCK.steady_s() + within_s
    while not ready():
        assert CLOCK.steady_s() < deadline, f"not so within {within_s:.0f} s"
        CLOCK.sleep(0.02)


class HandClock:
    """A clock that stands still but for what a test, or a sleep, moves it on by."""

    def __init__(self) -> None:
        self._us = 100_000_000

    @property
    def at_s(self) -> float:
        return self._us / 1e6

    @at_s.setter
    def at_s(self, seconds: float) -> None:
        self._us = round(seconds * 1e6)

    def now_us(self) -> int:
        return self._us

    def steady_s(self) -> float:
        return self._us / 1e6

    def sleep(self, seconds: float) -> None:
        self._us += round(seconds * 1e6)

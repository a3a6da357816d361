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

"""Durations and sizes as people write them, parsed once, and written back for people."""

from __future__ import annotations

import re
from datetime import timedelta
from math import isfinite

SECONDS_IN = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
MICROS_IN = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
DURATION = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(us|ms|s|min|m|h|d)\s*")

Duration = str | timedelta


def parse_duration(text: Duration, what: str = "duration") -> float:
    """Return a duration in seconds.

    >>> parse_duration("250ms"), parse_duration("1.5 min")
    (0.25, 90.0)
    """
    return parse_micros(text, what) / 1e6


def parse_micros(text: Duration, what: str = "duration") -> int:
    """Return a duration in whole microseconds, the unit in which times are compared exactly.

    >>> parse_micros("30s")
    30000000
    """
    if isinstance(text, timedelta):
        return text // timedelta(microseconds=1)
    found = DURATION.fullmatch(text) if isinstance(text, str) else None
    if not found:
        raise ValueError(
            f"{what} must be a number with a unit, such as '250ms', '30s' or '5min'; got {text!r}"
        )
    number, unit = found.groups()
    if number.isdigit():
        return int(number) * MICROS_IN[unit]
    return round(float(number) * MICROS_IN[unit])


def format_duration(seconds: float) -> str:
    """Return a duration the way a person would write it.

    >>> format_duration(0.25), format_duration(30), format_duration(90), format_duration(0.0042)
    ('250ms', '30s', '90s', '4.2ms')
    """
    if seconds != 0 and abs(seconds) < 1:
        return f"{seconds * 1e3:.3g}ms"
    return f"{seconds:.4g}s"


def finite(value: float, digits: int = 4) -> float | None:
    """A figure as JSON has it; None for what has no end.

    >>> finite(0.12345), finite(float("inf"))
    (0.1235, None)
    """
    return round(value, digits) if isfinite(value) else None

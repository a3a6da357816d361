"""Axes: round steps that people count in, and the straight line from values to places."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

ELAPSED_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
                   3600, 7200, 14400, 28800, 86400)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` laid out between two places; `low` < `high`."""

    low: float
    high: float
    first: float
    last: float

    def place(self, value: float) -> float:
        """Where a value is drawn, in tenths.

        >>> Scale(0, 10, 100, 200).place(2.5)
        125.0
        """
        share = (value - self.low) / (self.high - self.low)
        return round(self.first + share * (self.last - self.first), 1)


def nice_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that covers `span` in at most `most` steps.

    >>> nice_step(0.9, 5), nice_step(2300, 5)
    (0.2, 500.0)
    """
    if span <= 0:
        return 1.0
    power = 10.0 ** floor(log10(span / most))
    for factor in (1, 2, 2.5, 5, 10):
        if factor * power * most >= span * (1 - 1e-9):
            return float(f"{factor * power:.12g}")
    return 10 * power


def ticks(high: float, most: int = 5) -> list[float]:
    """Round values from 0 to the first that is not below `high`.

    >>> ticks(0.9)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    step = nice_step(high, most)
    values = [0.0]
    while values[-1] < high * (1 - 1e-9) or len(values) < 2:
        values.append(float(f"{len(values) * step:.12g}"))
    return values


def elapsed_ticks(high_s: float, most: int = 7) -> list[float]:
    """Times since the start in steps that clocks have, none above `high_s`.

    >>> elapsed_ticks(70)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    """
    days = 86400.0 * max(1, round(high_s / 86400 / most))
    step = next((s for s in ELAPSED_STEPS_S if s * most >= high_s), days)
    return [float(f"{n * step:.12g}") for n in range(int(high_s / step + 1e-9) + 1)]


def elapsed_text(seconds: float) -> str:
    """A time since the start as a clock would show it.

    >>> elapsed_text(5), elapsed_text(75), elapsed_text(3660), elapsed_text(0.5)
    ('0:05', '1:15', '1:01:00', '0:00.5')
    """
    whole, tenths = divmod(round(seconds * 10), 10)
    part = f".{tenths}" if tenths else ""
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return clock + part

"""What a user wants of the latency: a statistic, a limit, and what it is counted over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from headway.errors import GoalError
from headway.units import format_duration, parse_duration

GOAL = re.compile(
    r"\s*(mean|p(\d{1,2}(?:\.\d+)?))\s*<=?\s*([\d.]+\s*[a-z]+)(?:\s+per\s+(record|window))?\s*"
)


@dataclass(frozen=True, slots=True)
class Goal:
    """A promise about latency; `quantile` is None when it is about the mean."""

    quantile: float | None
    limit_s: float
    per: Literal["record", "window"] = "record"

    def __str__(self) -> str:
        statistic = "mean" if self.quantile is None else f"p{self.quantile * 100:g}"
        per = " per window" if self.per == "window" else ""
        return f"{statistic} <= {format_duration(self.limit_s)}{per}"

    def met_by(self, measured_s: float) -> bool:
        """Whether a measured value of this goal's statistic keeps the promise."""
        return measured_s <= self.limit_s


def parse_goal(text: str) -> Goal:
    """Read a goal.

    >>> parse_goal("p99 <= 3s per window")
    Goal(quantile=0.99, limit_s=3.0, per='window')
    >>> str(parse_goal("mean <= 500ms"))
    'mean <= 500ms'
    """
    found = GOAL.fullmatch(text) if isinstance(text, str) else None
    if not found:
        raise GoalError(
            f"goal {text!r} does not parse; write it as 'mean <= 500ms', 'p99 <= 1s' or "
            "'p99 <= 3s per window'"
        )
    _, percent, limit, per = found.groups()
    quantile = round(float(percent) / 100, 9) if percent else None
    if quantile == 0:
        raise GoalError(f"goal {text!r} asks for the 0th percentile; ask for p50 or higher")
    try:
        limit_s = parse_duration(limit, "the goal's limit")
    except ValueError as error:
        raise GoalError(str(error)) from None
    if limit_s <= 0:
        raise GoalError(f"the goal's limit must be positive; got {limit!r}")
    return Goal(quantile, limit_s, "window" if per == "window" else "record")

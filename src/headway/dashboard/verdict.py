"""The goal beside what was measured of it: the one comparison that every view shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headway.flow.goals import Goal
from headway.measure.latency import Latency
from headway.measure.summary import RunSummary
from headway.units import format_duration


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal and the measured value of its statistic, each None where there is none."""

    goal: Goal | None
    measured_s: float | None

    @property
    def met(self) -> bool | None:
        """Whether the goal was met; None without a goal or without a measurement."""
        if self.goal is None or self.measured_s is None:
            return None
        return self.goal.met_by(self.measured_s)

    def __str__(self) -> str:
        if self.goal is None:
            return "no goal was set"
        if self.measured_s is None:
            return f"goal {self.goal}: nothing was measured"
        name = str(self.goal).partition(" ")[0]
        word = "met" if self.met else "missed"
        return f"goal {self.goal} {word}: {name} was {format_duration(self.measured_s)}"

    def as_dict(self) -> dict[str, Any]:
        """The comparison by name, as commands print it."""
        return {
            "goal": None if self.goal is None else str(self.goal),
            "met": self.met,
            "measured_s": None if self.measured_s is None else round(self.measured_s, 6),
        }


def judge(goal: Goal | None, summary: RunSummary) -> Verdict:
    """Compare a run with its goal."""
    return judge_latency(goal, summary.latency, summary.window_latency)


def judge_latency(goal: Goal | None, per_record: Latency, per_window: Latency) -> Verdict:
    """Compare latencies with a goal, over records or over windows as the goal asks."""
    if goal is None:
        return Verdict(None, None)
    seen = per_window if goal.per == "window" else per_record
    if not seen.count:
        return Verdict(goal, None)
    found_s = seen.mean_s if goal.quantile is None else seen.quantile(goal.quantile)
    return Verdict(goal, found_s)

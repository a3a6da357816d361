"""What the keeper sees of a running flow: how much comes, how late answers are, what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.flow.goals import Goal
from headway.measure.batches import BatchLine
from headway.measure.latency import QUANTILES, Latency
from headway.measure.summary import latency_of

WINDOW_S = 10.0  # of the newest batches, over which a goal is looked at
LEAST_LINES = 3  # without which nothing is said


@dataclass(frozen=True, slots=True)
class Flowing:
    """A flow over the last seconds.

    rate_per_s  records that came, a second
    measured_s  the value of the goal's statistic; None when nothing was answered
    waiting     records that have come and are not answered
    at_s        when the newest batch was published
    """

    rate_per_s: float
    measured_s: float | None
    waiting: int
    at_s: float


def look(lines: Sequence[BatchLine], goal: Goal, window_s: float = WINDOW_S) -> Flowing | None:
    """What the newest batches tell; None when they are too few."""
    if not lines:
        return None
    newest = lines[-1]
    recent = [line for line in lines if line.published_s >= newest.published_s - window_s]
    recent = recent if len(recent) >= LEAST_LINES else list(lines[-LEAST_LINES:])
    first, last = recent[0], recent[-1]
    gone_s = last.published_s - first.published_s
    if len(recent) < 2 or gone_s <= 0:
        return None
    # Marks of transactions take a place in a topic, and are no records.
    came = last.account["arrived"] - first.account["arrived"]
    came -= last.account.get("blank", 0) - first.account.get("blank", 0)
    waiting = last.account.get("waiting", 0)
    return Flowing(max(0.0, came / gone_s), measured(recent, goal), waiting, newest.published_s)


def measured(lines: Sequence[BatchLine], goal: Goal) -> float | None:
    """The value of a goal's statistic over batches; None when nothing was answered."""
    if goal.per == "window":
        told = [line.window_latency for line in lines if line.window_latency.get("count")]
        if not told:
            return None
        if goal.quantile is None:
            count = sum(each["count"] for each in told)
            return sum(each["count"] * each["mean"] for each in told) / count
        # A line keeps few quantiles of its windows, which close together: the worst batch counts.
        name = next((name for name, q in QUANTILES.items() if q >= goal.quantile), "max")
        return float(max(each[name] for each in told))
    whole = Latency.together(latency_of(line) for line in lines)
    if not whole.count:
        return None
    return whole.mean_s if goal.quantile is None else whole.quantile(goal.quantile)

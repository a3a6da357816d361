"""Which plots a report shows of one query, and what each of them says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from headway.dashboard.draw.plots import Limit, Series, TimePlot
from headway.dashboard.draw.scales import elapsed_text
from headway.dashboard.points import Point
from headway.flow.goals import Goal
from headway.units import format_duration


@dataclass(frozen=True, slots=True)
class Timeline:
    """The points of one query and the goal that they are drawn against."""

    points: tuple[Point, ...]
    goal: Goal | None

    @property
    def warm_until_s(self) -> float:
        """When the warm-up ended, since the start."""
        return max((point.at_s for point in self.points if point.warm), default=0.0)

    def values(self, pick: Callable[[Point], float | None]) -> tuple[float | None, ...]:
        """One value for each point."""
        return tuple(pick(point) for point in self.points)

    def tips(self, say: Callable[[Point], str]) -> tuple[str, ...]:
        """One text for each point, headed by its time and its batches."""
        return tuple(f"{heading(point)}\n{say(point)}" for point in self.points)

    def limit(self, per: str) -> Limit | None:
        """The goal as a limit, on the plots that show what it is counted over."""
        if self.goal is None or self.goal.per != per:
            return None
        return Limit(self.goal.limit_s, f"goal {self.goal}")

    def grouped(self) -> bool:
        """Whether a point stands for more than one batch."""
        return any(point.first_batch != point.last_batch for point in self.points)


def latency_plot(line: Timeline) -> TimePlot:
    """Latency of the records of each batch."""
    p50 = Series("p50", "one", line.values(lambda p: p.p50_s))
    p99 = Series("p99", "two", line.values(lambda p: p.p99_s))
    tips = line.tips(lambda p: f"p50 {seconds(p.p50_s)}, p99 {seconds(p.p99_s)}")
    plot = plot_of(line, "Latency of records, by batch", (p50, p99), tips)
    return replace(plot, limit=line.limit("record"))


def window_plot(line: Timeline) -> TimePlot | None:
    """How long after its end each window was answered; None where no window was."""
    if all(point.window_max_s is None for point in line.points):
        return None
    p50 = Series("p50", "one", line.values(lambda p: p.window_p50_s), "dots")
    slowest = Series("slowest", "two", line.values(lambda p: p.window_max_s), "dots")
    tips = line.tips(
        lambda p: (
            f"p50 {seconds(p.window_p50_s)}, slowest {seconds(p.window_max_s)}"
            if p.window_max_s is not None
            else "no window closed"
        )
    )
    plot = plot_of(line, "Latency of windows, when they closed", (p50, slowest), tips)
    return replace(plot, limit=line.limit("window"))


def pace_plot(line: Timeline) -> TimePlot:
    """How long batches took beside the interval at which they were paced."""
    taken = Series("time taken", "one", line.values(lambda p: p.duration_s))
    interval = Series("interval", "two", line.values(lambda p: p.interval_s), "step")
    tips = line.tips(
        lambda p: f"took {seconds(p.duration_s)}, interval {seconds(p.interval_s)}\n{p.because}"
    )
    return plot_of(line, "Time a batch took, and the interval set for it", (taken, interval), tips)


def rows_plot(line: Timeline) -> TimePlot:
    """How many records each batch took in."""
    rows = Series("records", "bar", line.values(lambda p: p.rows), "bars")
    tips = line.tips(lambda p: f"{p.rows:,.0f} records")
    return replace(plot_of(line, "Records per batch", (rows,), tips), text=count_text)


def waiting_plot(line: Timeline) -> TimePlot:
    """How many records were waiting when each batch was published."""
    waiting = Series("waiting", "one", line.values(lambda p: p.waiting))
    tips = line.tips(lambda p: f"{p.waiting:,} waiting")
    plot = plot_of(line, "Records waiting when a batch was published", (waiting,), tips)
    return replace(plot, text=count_text)


def quarantine_plot(line: Timeline) -> TimePlot | None:
    """How many records each batch set aside; None where it was none."""
    if not any(point.quarantined for point in line.points):
        return None
    aside = Series("quarantined", "two", line.values(lambda p: p.quarantined), "bars")
    tips = line.tips(lambda p: f"{p.quarantined:,} quarantined")
    plot = plot_of(line, "Records quarantined, by batch", (aside,), tips)
    return replace(plot, text=count_text)


def plots_of(line: Timeline) -> list[TimePlot]:
    """The plots of one query that have something to show, the most asked for first."""
    made = (
        latency_plot(line),
        window_plot(line),
        rows_plot(line),
        pace_plot(line),
        waiting_plot(line),
        quarantine_plot(line),
    )
    return [plot for plot in made if plot is not None]


def plot_of(
    line: Timeline, title: str, made: tuple[Series, ...], tips: tuple[str, ...]
) -> TimePlot:
    """A plot of durations over a query's time."""
    return TimePlot(
        title=title,
        times_s=tuple(point.at_s for point in line.points),
        series=made,
        text=format_duration,
        tips=tips,
        warm_until_s=line.warm_until_s,
    )


def heading(point: Point) -> str:
    """When a point was published and what it stands for."""
    one = point.first_batch == point.last_batch
    batches = (
        f"batch {point.last_batch}" if one else f"batches {point.first_batch}-{point.last_batch}"
    )
    return f"{elapsed_text(point.at_s)}, {batches}" + (" (warm-up)" if point.warm else "")


def seconds(value: float | None) -> str:
    """A duration, or a dash where there is none."""
    return "–" if value is None else format_duration(value)


def count_text(value: float) -> str:
    """A count as an axis shows it.

    >>> count_text(950), count_text(12_000), count_text(2_500_000)
    ('950', '12k', '2.5M')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"

"""The live view of a run on a terminal, or else a line of text every few seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from headway.clock import Clock
from headway.dashboard.live_facts import Gatherer, LiveFacts, sparkline
from headway.flow.goals import Goal
from headway.measure.batches import BatchLine
from headway.units import format_duration

LINE_EVERY_S = 5.0
SPARK_WIDTH = 48
BAR_WIDTH = 30


@dataclass(frozen=True, slots=True)
class Watched:
    """What is being watched: its title, its goal, how long it runs if known, and its warm-up.

    `grace_s` is how much longer than `length_s` it may take to come to an end by itself. What
    prints answers to the same terminal is told in lines, since it would tear a `drawn` view apart.
    """

    title: str
    goal: Goal | None = None
    length_s: float | None = None
    warmup: int = 0
    grace_s: float = 0.0
    drawn: bool = True


@dataclass(frozen=True, slots=True)
class TopAnswers:
    """The answers to show beside the figures: what they are of, and each with its count."""

    of: str
    rows: tuple[tuple[str, int], ...]


class LiveView:
    """Shows a run while it is inside a ``with`` block; writes to the console it is given."""

    def __init__(self, watched: Watched, console: Console, clock: Clock) -> None:
        self.watched, self.console, self.clock = watched, console, clock
        self.gatherer = Gatherer(watched.goal, watched.warmup)
        self.began_s = self.said_s = clock.steady_s()
        self.live: Live | None = None

    def __enter__(self) -> Self:
        self.began_s = self.said_s = self.clock.steady_s()
        if self.console.is_terminal and self.watched.drawn:
            self.live = Live(console=self.console, auto_refresh=False, transient=True)
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def show(self, lines: Sequence[BatchLine], top: TopAnswers | None = None) -> None:
        """Bring the view up to date with the lines so far."""
        facts = self.gatherer.take(lines)
        elapsed_s = self.clock.steady_s() - self.began_s
        if self.live is not None:
            self.live.update(picture(self.watched, facts, elapsed_s, top), refresh=True)
        elif self.clock.steady_s() - self.said_s >= LINE_EVERY_S:
            self.said_s = self.clock.steady_s()
            self.console.print(plain_line(facts, elapsed_s), soft_wrap=True, highlight=False)


def plain_line(facts: LiveFacts, elapsed_s: float) -> str:
    """The state of a run as one line of text."""
    if facts.last is None:
        return f"{elapsed_s:.0f}s: no batch has been published yet"
    now = facts.last.latency
    so_far = f", {facts.verdict}" if facts.verdict.measured_s is not None else ""
    return (
        f"{elapsed_s:.0f}s: {facts.batches} batches, {facts.recent_per_s:,.0f} records/s, "
        f"p50 {format_duration(now.get('p50', 0.0))}, p99 {format_duration(now.get('p99', 0.0))}, "
        f"{facts.waiting:,} waiting, {facts.quarantined:,} quarantined{so_far}"
    )


def picture(
    watched: Watched, facts: LiveFacts, elapsed_s: float, top: TopAnswers | None
) -> RenderableType:
    """The whole view as one picture."""
    parts: list[RenderableType] = [progress_part(watched, elapsed_s)]
    if facts.last is None:
        parts.append(Text("Spark is starting; the first batch takes some seconds.", style="dim"))
    else:
        parts.append(side_by_side(figures_part(facts), top))
        parts.append(spark_part(facts))
        parts.append(goal_part(watched, facts))
    return Panel(Group(*parts), title=Text(watched.title), title_align="left", width=96)


def progress_part(watched: Watched, elapsed_s: float) -> RenderableType:
    """How far a run of known length is, or how long an endless one has run."""
    if watched.length_s is None:
        return Text(f"{format_duration(round(elapsed_s))} so far; stop it with Ctrl-C", style="dim")
    row = Table.grid(padding=(0, 1))
    done_s = min(elapsed_s, watched.length_s)
    said = f"{done_s:.0f} of {watched.length_s:.0f} s"
    row.add_row(
        ProgressBar(watched.length_s, done_s, width=BAR_WIDTH, complete_style="blue"),
        Text(said, style="dim"),
    )
    return row


def figures_part(facts: LiveFacts) -> Table:
    """The figures of this moment, each with its name."""
    last = facts.last
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(justify="right")
    rows = [("records per second", f"{facts.recent_per_s:,.0f}")]
    if last is not None and last.latency.get("count"):
        rows.append(("latency now, p50", format_duration(last.latency["p50"])))
        rows.append(("latency now, p99", format_duration(last.latency["p99"])))
    if facts.per_record.count:
        rows.append(("p99 so far", format_duration(facts.per_record.quantile(0.99))))
    if facts.per_window.count:
        rows.append(("p99 of windows so far", format_duration(facts.per_window.quantile(0.99))))
    rows.append(("records in last batch", f"{last.rows:,}" if last else "0"))
    rows.append(("batches", f"{facts.batches:,}"))
    rows.append(("waiting", f"{facts.waiting:,}"))
    rows.append(("quarantined", f"{facts.quarantined:,}"))
    for name, value in rows:
        table.add_row(name, value)
    return table


def side_by_side(figures: Table, top: TopAnswers | None) -> RenderableType:
    """The figures, with the top answers to their right where there are any."""
    if top is None or not top.rows:
        return figures
    answers = Table(title=Text(top.of, style="bold"), box=None, show_header=False, padding=(0, 1))
    answers.add_column()
    answers.add_column(justify="right")
    most = max(count for _, count in top.rows) or 1
    for name, count in top.rows:
        bar = ProgressBar(most, count, width=16, complete_style="cyan", finished_style="cyan")
        answers.add_row(Text(name), f"{count:,}", bar)
    both = Table.grid(padding=(0, 4))
    both.add_row(figures, answers)
    return both


def spark_part(facts: LiveFacts) -> Text:
    """The p99 of the last batches as small bars."""
    worst_s = max(facts.p99s_s[-SPARK_WIDTH:], default=0.0)
    return Text.assemble(
        ("p99 by batch ", "dim"),
        (sparkline(facts.p99s_s, SPARK_WIDTH), "cyan"),
        (f" up to {format_duration(round(worst_s, 3))}", "dim"),
    )


def goal_part(watched: Watched, facts: LiveFacts) -> RenderableType:
    """How much of the goal's limit is used, green while it is met."""
    goal, verdict = watched.goal, facts.verdict
    if goal is None:
        return Text("no goal was set", style="dim")
    if verdict.measured_s is None:
        left_out = f"; the first {watched.warmup} batches are warm-up" if watched.warmup else ""
        return Text(f"goal {goal}: not measured yet{left_out}", style="dim")
    colour = "green" if verdict.met else "red"
    row = Table.grid(padding=(0, 1))
    used_s = min(verdict.measured_s, goal.limit_s)
    bar = ProgressBar(goal.limit_s, used_s, width=BAR_WIDTH, complete_style=colour,
                      finished_style=colour)  # fmt: skip
    row.add_row(bar, Text(str(verdict), style=colour))
    return row

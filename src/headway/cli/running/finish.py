"""What is left of a run: its facts beside the log, the report, and the result on stdout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from headway.cli.outcome import Exit, say
from headway.cli.running.follow import Handle
from headway.dashboard.about import RunAbout
from headway.dashboard.report import write_report
from headway.dashboard.verdict import Verdict, judge
from headway.errors import HeadwayError, RunError
from headway.flow.goals import parse_goal
from headway.measure.bars import BAR, bars
from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.summary import RunSummary, summarise
from headway.units import format_duration

WARMING = 3


@dataclass(frozen=True, slots=True)
class Result:
    """A run that ended: its facts, its figures, and where its report is."""

    about: RunAbout
    summary: RunSummary
    verdict: Verdict
    report: Path

    def as_dict(self) -> dict[str, Any]:
        """The result by name, as `--json` prints it."""
        places = {"folder": self.about.folder, "report": str(self.report)}
        return {"title": self.about.title, **self.verdict.as_dict(), **self.summary.as_dict(),
                **places}  # fmt: skip


def finish(handle: Handle, lines: Sequence[BatchLine], about: RunAbout, report: Path) -> Result:
    """Keep a run's facts, write its report, and raise what it failed with, if it failed."""
    about.save(handle.folder)
    write_report(lines, about, report)
    if handle.error is not None:
        raise failure(handle.error)
    return result_of(about, lines, report)


def result_of(about: RunAbout, lines: Sequence[BatchLine], report: Path) -> Result:
    """The figures of a run beside its facts."""
    summary = summarise(lines, about.warmup)
    goal = parse_goal(about.goal) if about.goal else None
    return Result(about, summary, judge(goal, summary), report)


def failure(error: Exception) -> Exception:
    """What a run failed with, as an error of ours."""
    if isinstance(error, HeadwayError):
        return error
    wrapped = RunError(f"the run failed: {type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped


def tell(result: Result, *, as_json: bool) -> None:
    """Print a result, and end the command with the exit code that it calls for."""
    if as_json:
        print(json.dumps(result.as_dict()))
    else:
        print_result(result, Console())
    if result.verdict.met is False:
        raise typer.Exit(Exit.GOAL_MISSED)


def print_result(result: Result, console: Console) -> None:
    """Print a result for people."""
    colour = {True: "green", False: "red", None: ""}[result.verdict.met]
    say(console, result.about.title)
    console.print(Text(str(result.verdict), style=colour), soft_wrap=True, highlight=False)
    for name, text in rows(result):
        say(console, f"  {name:<9}{text}")


def rows(result: Result) -> list[tuple[str, str]]:
    """The lines of a result, each with its name."""
    summary, about = result.summary, result.about
    found = [
        (
            "records",
            f"{summary.records:,} in {summary.seconds:.1f} s, {summary.rate_per_s:,.0f}/s, "
            f"{summary.batches:,} {'batch' if summary.batches == 1 else 'batches'}",
        )
    ]
    if summary.latency.count:
        found.append(("latency", latency_text(summary.latency)))
    if summary.clock_ahead_s:
        ahead = f"{summary.clock_ahead_s * 1e3:.0f} ms"
        text = f"that of some records was {ahead} ahead or more; their latencies count as zero"
        found.append(("clock", text))
    for place, (bar, name, spent) in enumerate(bars(summary.phases_s)):
        found.append(("" if place else "phases", f"{bar:<{BAR}} {name:<13} {spent}"))
    if summary.window_latency.count:
        found.append(("windows", latency_text(summary.window_latency)))
    if result.verdict.met is False and not summary.warmup and summary.batches > WARMING:
        hint = f"the first batches of a new JVM are slow; --warmup {WARMING} leaves them out"
        found.append(("start-up", hint))
    if summary.warmup:
        found.append(("warm-up", f"the first {summary.warmup} batches are left out of the above"))
    found.append(("account", str(about.account)))
    if about.account.quarantined:
        found.append(("aside", f"`headway quarantine {about.folder}` says which records, and why"))
    found.append(("folder", about.folder))
    found.append(("report", str(result.report)))
    return found


def latency_text(latency: Latency) -> str:
    """The figures of a latency in a line."""
    parts = [
        f"{name} {format_duration(round(latency.quantile(q), 4))}"
        for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
    ]
    return ", ".join([*parts, f"max {format_duration(round(latency.max_s, 4))}"])

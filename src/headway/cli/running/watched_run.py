"""Start a run, follow it, finish it: what `run` and `demo` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from headway.cli.running.finish import Result, finish
from headway.cli.running.follow import Starter, Wanted, Watch, follow
from headway.clock import SystemClock
from headway.dashboard.about import RunAbout
from headway.dashboard.live import LiveView, TopAnswers, Watched
from headway.measure.account import Account

Top = Callable[[], TopAnswers | None]


def new_folder(name: str) -> Path:
    """A folder of its own for each run, since a folder that is there would be resumed."""
    now = datetime.fromtimestamp(SystemClock().now_us() / 1e6, UTC)
    return Path(".headway") / f"{name}-{now:%Y%m%d-%H%M%S}"


def watch_run(
    start: Starter, wanted: Wanted, watched: Watched, report: Path, top: Top = lambda: None
) -> Result:
    """Run what is wanted from start to report."""
    clock, console = SystemClock(), Console(stderr=True)
    asked_s = clock.now_us() / 1e6
    handle = start(wanted)
    started_s = clock.now_us() / 1e6
    about = RunAbout(
        title=watched.title,
        flow=str(wanted.flow),
        goal=None if wanted.goal is None else str(wanted.goal),
        folder=str(handle.folder),
        started_s=asked_s,
        ended_s=asked_s,
        warmup=watched.warmup,
        account=Account(),
    )
    about.save(handle.folder)  # in case this process does not live to the end of the run
    for_s = None if watched.length_s is None else watched.length_s + watched.grace_s
    follow(handle, Watch(LiveView(watched, console, clock), clock, for_s, top))
    # A folder that is resumed holds the lines of earlier starts, which are not what was watched.
    lines = [line for line in handle.lines() if line.published_s >= asked_s]
    begun_s = min([started_s, *(line.started_s for line in lines)])
    about = replace(about, started_s=begun_s, ended_s=clock.now_us() / 1e6, account=handle.account)
    return finish(handle, lines, about, report)

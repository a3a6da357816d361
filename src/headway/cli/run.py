"""`headway run`: run the flow of a Python file on Spark and keep watch over its goal."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from headway.cli.options import (
    REPORT_FOLDER,
    GoalText,
    Json,
    Length,
    MetricsPort,
    ReportFolder,
    Warmup,
    seconds_or_none,
)
from headway.cli.outcome import say
from headway.cli.running.finish import tell
from headway.cli.running.flow_file import load_flow, split_name
from headway.cli.running.follow import Wanted
from headway.cli.running.watched_run import new_folder, watch_run
from headway.dashboard.live import Watched
from headway.flow.goals import parse_goal
from headway.plan.modes import RealTime

SOONER = (
    "in real-time mode a run tells of its records with each checkpoint, and this one may end "
    "before the first; --checkpoint 5s brings them sooner"
)


def too_short(wanted: Wanted, length_s: float | None) -> bool:
    """Whether a run may end without having told anything."""
    every_s = RealTime().checkpoint_s if wanted.checkpoint_s is None else wanted.checkpoint_s
    return wanted.mode == "real-time" and length_s is not None and length_s < 2 * every_s


def run_file(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="FILE.py, or FILE.py:name of the flow in it.")],
    goal: GoalText = None,
    length: Length = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where the run keeps its state; again to resume it.")
    ] = None,
    master: Annotated[str | None, typer.Option(help="Spark's master, such as local[2].")] = None,
    interval: Annotated[
        str | None, typer.Option(help="Time between batches; without it headway chooses.")
    ] = None,
    max_rows: Annotated[int | None, typer.Option(min=1, help="Most records in a batch.")] = None,
    mode: Annotated[
        Literal["micro-batch", "real-time"] | None,
        typer.Option(help="How Spark runs the flow; without it headway chooses."),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="Time between checkpoints of real-time mode.")
    ] = None,
    store: Annotated[
        Literal["rocksdb", "memory"] | None,
        typer.Option(help="Where states rest, fixed by a checkpoint; without it headway chooses."),
    ] = None,
    warmup: Warmup = 0,
    metrics_port: MetricsPort = None,
    report: ReportFolder = REPORT_FOLDER,
    as_json: Json = False,
) -> None:
    """Run the flow of FILE.py until its source ends, its time is up, or Ctrl-C."""
    path, name = split_name(file)
    wanted = Wanted(
        load_flow(file),
        parse_goal(goal) if goal else None,
        folder or new_folder(path.stem),
        master,
        seconds_or_none(interval, "--interval"),
        max_rows,
        mode,
        metrics_port=metrics_port,
        checkpoint_s=seconds_or_none(checkpoint, "--checkpoint"),
        store=store,
    )
    watched = Watched(
        f"{path.name}: {name}" if name else path.name,
        wanted.goal,
        seconds_or_none(length, "--for"),
        warmup,
        drawn=all(sink.target.kind != "console" for sink in wanted.flow.sinks),
    )
    say(Console(stderr=True), "starting Spark ...")
    if too_short(wanted, watched.length_s):
        say(Console(stderr=True), SOONER)
    # Answers on the console give way to the one JSON object that was asked for.
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        result = watch_run(context.obj, wanted, watched, report / f"{path.stem}.html")
    tell(result, as_json=as_json)

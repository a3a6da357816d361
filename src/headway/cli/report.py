"""`headway report`: write the HTML report of a run again, from its folder alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from headway.cli.options import GoalText, Json
from headway.cli.outcome import UsedWrongly
from headway.cli.running.finish import print_result, result_of
from headway.dashboard.about import load_about
from headway.dashboard.report import write_report
from headway.flow.goals import parse_goal
from headway.measure.batches import BatchLog

LOG_FILE = "batches.jsonl"


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a run that has ended.")],
    goal: GoalText = None,
    warmup: Annotated[
        int | None,
        typer.Option(min=0, help="First batches to leave out, if not as in the run."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="The file to write; report.html in the folder otherwise.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the report of a run again from its folder, against another goal if you like."""
    if not folder.is_dir():
        raise UsedWrongly(f"there is no folder {str(folder)!r}; name the folder of a run")
    logged = list(BatchLog(folder / LOG_FILE).lines())
    about = load_about(folder, logged)
    if goal is not None:
        about = replace(about, goal=str(parse_goal(goal)))
    if warmup is not None:
        about = replace(about, warmup=warmup)
    lines = [line for line in logged if line.published_s >= about.started_s]
    path = write_report(lines, about, to or folder / "report.html")
    result = result_of(about, lines, path)
    if as_json:
        print(json.dumps(result.as_dict()))
    else:
        print_result(result, Console())

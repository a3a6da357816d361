"""`headway report`: write the HTML report of a run again, from its folder alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from headway.cli.options import Json
from headway.cli.outcome import UsedWrongly
from headway.cli.running.finish import Result, print_result
from headway.dashboard.about import load_about
from headway.dashboard.report import write_report
from headway.dashboard.verdict import judge
from headway.flow.goals import parse_goal
from headway.measure.batches import BatchLog
from headway.measure.summary import summarise

LOG_FILE = "batches.jsonl"


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a run that has ended.")],
    to: Annotated[
        Path | None, typer.Option(help="The file to write; report.html in the folder otherwise.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the report of a run again, from the folder that the run left."""
    if not folder.is_dir():
        raise UsedWrongly(f"there is no folder {str(folder)!r}; name the folder of a run")
    about = load_about(folder)
    logged = BatchLog(folder / LOG_FILE).lines()
    lines = [line for line in logged if line.published_s >= about.started_s]
    path = write_report(lines, about, to or folder / "report.html")
    summary = summarise(lines, about.warmup)
    goal = parse_goal(about.goal) if about.goal else None
    result = Result(about, summary, judge(goal, summary), path)
    if as_json:
        print(json.dumps(result.as_dict()))
    else:
        print_result(result, Console())

"""The options that commands share, each described once, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headway.cli.outcome import UsedWrongly
from headway.units import parse_duration

REPORT_FOLDER = Path("headway-report")

Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
GoalText = Annotated[
    str | None, typer.Option("--goal", help="When answers are due, such as 'p99 <= 1s'.")
]
Length = Annotated[str | None, typer.Option("--for", help="How long to run, such as 30s or 5min.")]
ReportFolder = Annotated[Path, typer.Option("--report", help="Where the HTML report goes.")]
Warmup = Annotated[
    int, typer.Option("--warmup", min=0, help="First batches to leave out of the figures.")
]
MetricsPort = Annotated[
    int | None,
    typer.Option("--metrics-port", min=0, max=65_535, help="Serve figures to Prometheus there."),
]


def seconds_or_none(text: str | None, option: str) -> float | None:
    """A duration given to an option, in seconds; None where it was not given."""
    if text is None:
        return None
    try:
        seconds = parse_duration(text, option)
    except ValueError as error:
        raise UsedWrongly(str(error)) from None
    if seconds <= 0:
        raise UsedWrongly(f"{option} must be longer than nothing; got {text!r}")
    return seconds

"""`headway watch`: look at a streaming query that headway did not write, from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.cli.options import Json
from headway.cli.outcome import UsedWrongly, say
from headway.engine.spark.frames.left import read_checkpoint
from headway.engine.spark.frames.ui import read_ui
from headway.measure.bars import bars
from headway.measure.watched import WATCHED, Watched
from headway.plan.advice import advise
from headway.units import format_duration


def watch(
    target: Annotated[str, typer.Argument(help="A checkpoint folder, or a Spark UI's address.")],
    as_json: Json = False,
) -> None:
    """Say where the batches of a running query spend their time, and what to do about it."""
    found = look(target)
    if as_json:
        print(json.dumps([each.as_dict() | {"advice": advise(each)} for each in found]))
        return
    console = Console()
    for each in found:
        show(each, console)


def look(target: str) -> list[Watched]:
    """The queries behind an address or a folder."""
    if target.startswith(("http://", "https://")):
        return read_ui(target)
    if not Path(target).is_dir():
        raise UsedWrongly(
            f"there is no folder {target!r}; give a query's checkpoint folder, or the address of "
            "its Spark UI, such as http://localhost:4040"
        )
    return [read_checkpoint(Path(target))]


def show(seen: Watched, console: Console) -> None:
    """Print what was seen of one query."""
    figures = seen.as_dict()
    say(console, f"{seen.name}: {len(seen.batches)} batches")
    took, worst = (format_duration(figures[name]) for name in ("took_s", "took_s_max"))
    say(console, f"  a batch takes {took}, at most {worst}")
    if figures["idle_s"] is not None:
        say(console, f"  between two batches lie {format_duration(figures['idle_s'])}")
    if figures["rows"] is not None:
        say(console, f"  a batch has {figures['rows']:,} records")
    console.print(phase_table(seen))
    for sentence in advise(seen):
        say(console, f"* {sentence}")
    for sentence in seen.missing:
        say(console, f"(not seen: {sentence})")


def phase_table(seen: Watched) -> Table:
    """A bar for each phase."""
    table = Table(show_header=False, box=None)
    for bar, name, spent in bars(seen.phases_s):
        table.add_row(*(Text(cell) for cell in (bar, name, spent, WATCHED[name])))
    return table

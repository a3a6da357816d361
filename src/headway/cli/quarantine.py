"""`headway quarantine`: which records of a run were set aside, and why."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from headway.cli.options import Json
from headway.cli.outcome import UsedWrongly, say
from headway.engine.topics.quarantine import count_by_reason, read_quarantine

SHOWN = 20


def quarantine(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
    most: Annotated[int, typer.Option("--most", min=1, help="Show so many records.")] = SHOWN,
    as_json: Json = False,
) -> None:
    """Show the records of a run that were set aside: place, reason, and what is kept of them."""
    place = folder / "quarantine"
    if not (folder / "run.json").is_file():
        raise UsedWrongly(f"{str(folder)!r} is no folder of a run; name the one that it printed")
    found = [row for each in sinks_in(place) for row in read_quarantine(each).to_pylist()]
    rows = [plain(row) for row in found]
    counts: Counter[str] = Counter()
    for each in sinks_in(place):
        counts.update(count_by_reason(each))
    counts.pop("blank", None)  # no records
    if as_json:
        print(json.dumps({"counts": dict(counts.most_common()), "records": rows[:most]}))
        return
    console = Console()
    say(
        console,
        ", ".join(f"{n} {why}" for why, n in counts.most_common()) or "nothing was set aside",
    )
    for row in rows[:most]:
        say(console, f"{row['source']} {row['partition']}/{row['offset']}: {row['reason']}")
        say(console, f"    {row['raw']}")
    if len(rows) > most:
        say(console, f"... and {len(rows) - most} more; --most {len(rows)} shows them all")


def sinks_in(place: Path) -> list[Path]:
    """A folder for each sink on the way to which records were set aside."""
    return sorted(each for each in place.iterdir() if each.is_dir()) if place.is_dir() else []


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A record with its bytes as text, whatever they are."""
    return row | {"raw": row["raw"].decode(errors="backslashreplace")}

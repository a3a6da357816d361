"""The answer as it refines: a table that is redrawn on a terminal, or else a line now and then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from headway.cli.asking.cells import change_text, exact_text, short_text
from headway.cli.asking.follow import Seen, share_text
from headway.cli.asking.rows import Key, is_number, key_columns, row_keys
from headway.cli.outcome import say
from headway.clock import Clock
from headway.units import format_duration

LINE_EVERY_S = 1.0
BAR_WIDTH = 30
UNBOUNDED = 10_000  # columns of a screen that there is not


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a question: its text, and so many rows; `drawn` on a terminal."""

    title: str
    rows: int
    drawn: bool = True


class AnswerView:
    """Shows answers while it is inside a ``with`` block; writes to the console it is given."""

    def __init__(self, shown: Shown, console: Console, clock: Clock) -> None:
        self.shown, self.console, self.clock = shown, console, clock
        self.before: Seen | None = None
        self.said_s: float | None = None
        self.live: Live | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal and self.shown.drawn:
            waiting = Text("waiting for the first answer ...", style="dim")
            self.live = Live(waiting, console=self.console, auto_refresh=False, transient=True)
            self.live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def show(self, seen: Seen) -> None:
        """Bring the view up to date with one more answer."""
        if self.live is not None:
            self.live.update(picture(self.shown, seen, self.before), refresh=True)
        elif self._due(seen):
            self.said_s = self.clock.steady_s()
            say(self.console, plain_line(seen))
        self.before = seen

    def _due(self, seen: Seen) -> bool:
        if self.said_s is None or seen.point == seen.points - 1:
            return True
        return self.clock.steady_s() - self.said_s >= LINE_EVERY_S


def plain_line(seen: Seen) -> str:
    """An answer as one line of progress."""
    moved = "" if seen.moved is None else f", moved {share_text(seen.moved)}"
    return (
        f"{format_duration(round(seen.at_s, 1))}: point {seen.point + 1} of {seen.points}, "
        f"{share_text(seen.progress)} of the tuples, {seen.table.num_rows:,} rows{moved}"
    )


def picture(shown: Shown, seen: Seen, before: Seen | None) -> RenderableType:
    """The whole view: how far it is, and the answer with what changed in it."""
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        ProgressBar(1.0, seen.progress, width=BAR_WIDTH, complete_style="blue"),
        Text(plain_line(seen), style="dim"),
    )
    parts: list[RenderableType] = [bar, changing(seen, before, shown.rows)]
    left = seen.table.num_rows - shown.rows
    if left > 0:
        parts.append(Text(f"and {left:,} more rows", style="dim"))
    return Panel(Group(*parts), title=Text(shown.title), title_align="left")


def changing(seen: Seen, before: Seen | None, most: int) -> Table:
    """The first rows of an answer; beside each number, how it changed since the point before."""
    old = seen.table.slice(0, 0) if before is None else before.table
    keys = key_columns(old, seen.table)
    places: dict[Key, int] = {key: n for n, key in enumerate(row_keys(old, keys))}
    found = [places.get(key) for key in row_keys(seen.table, keys)[:most]]
    was = old.take(pa.array([n or 0 for n in found])) if old.num_rows else old
    table = Table(box=None, padding=(0, 1), header_style="bold")
    cells: list[list[Text]] = []
    for place, field in enumerate(seen.table.schema):
        table.add_column(Text(field.name), justify="right" if is_number(field.type) else "left")
        now = seen.table.column(place).to_pylist()[:most]
        if place in keys or before is None or not is_number(field.type):
            cells.append([Text(exact_text(v) if place in keys else short_text(v)) for v in now])
            continue
        past = was.column(place).to_pylist() or [None] * len(now)
        cells.append([changed(*both) for both in zip(past, now, found, strict=True)])
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    return table


def changed(past: Any, now: Any, found: int | None) -> Text:
    """A number with its change, dim where it stands still."""
    said = "new" if found is None else change_text(past, now)
    look = "dim" if said == "=" else "yellow" if found is None else "cyan"
    return Text.assemble(short_text(now), " ", (f"{said:>7}", look))


def print_answer(table: pa.Table, most: int, console: Console) -> None:
    """Print the first rows of an answer, exact and whole; where there is no terminal, unwrapped."""
    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for field in table.schema:
        right = is_number(field.type)
        shown.add_column(Text(field.name), justify="right" if right else "left", overflow="fold")
    for row in zip(*(column.to_pylist()[:most] for column in table.columns), strict=True):
        shown.add_row(*(Text(exact_text(value)) for value in row))
    wide = console if console.is_terminal else Console(file=console.file, width=UNBOUNDED)
    wide.print(shown, highlight=False)

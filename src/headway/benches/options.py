"""What every benchmark is told, and how it shows that it is getting on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PLAIN_LINES = 10


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """The settings of one benchmark.

    quick    a small version that takes about a minute and proves that everything works
    times    how often the thing measured is done, None for the benchmark's own number
    repeats  how often the whole measurement is made again, None for the benchmark's own number
    report   the folder for whatever the benchmark writes
    seed     what chance is drawn from
    full     everything, where that takes hours
    data     a folder with files of real data, for benchmarks that can do without made data
    """

    quick: bool = False
    times: int | None = None
    repeats: int | None = None
    report: Path = Path("headway-report")
    seed: int = 0
    full: bool = False
    data: Path | None = None

    def keep(self, name: str, figures: dict[str, Any]) -> None:
        """Write a benchmark's figures to its file in the report's folder."""
        self.report.mkdir(parents=True, exist_ok=True)
        (self.report / f"{name}.json").write_text(json.dumps(figures, indent=1))


class Bar:
    """The progress of a benchmark; says so in plain lines where there is no terminal."""

    def __init__(self, total: int, what: str, console: Console) -> None:
        self.total, self.what, self.console = total, what, console
        self.done = self.said = 0
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self.shown = Progress(
            *columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal
        )
        self.task = self.shown.add_task(what, total=total)

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Say that `steps` more are done; `note` says what is going on now."""
        self.done += steps
        described = f"{self.what}: {note}" if note else self.what
        self.shown.update(self.task, advance=steps, description=described)
        due = self.done * PLAIN_LINES // max(1, self.total)
        if not self.console.is_terminal and (due > self.said or self.done >= self.total):
            self.said = due
            line = f"{self.done} of {self.total}, {described}"
            self.console.print(line, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def progress(total: int, what: str, console: Console | None = None) -> Iterator[Bar]:
    """A progress bar on stderr for `total` steps of something, inside a ``with`` block."""
    bar = Bar(total, what, console or Console(stderr=True))
    with bar.shown:
        yield bar

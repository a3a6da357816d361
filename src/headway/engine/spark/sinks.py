"""Where answers are published, each batch once however often Spark replays it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from headway.engine.kafka.sink import KafkaSink
from headway.engine.topics.spool import Spool, write_durably
from headway.flow.columns.schema import Schema
from headway.flow.topics import Target

SHOWN_ROWS = 20


class Publisher(Protocol):
    """Publishes the answers of a batch; False when that batch was published before."""

    def publish(self, batch: int, answers: pa.Table) -> bool:
        """Publish one batch."""
        ...

    def any_published(self) -> bool:
        """Whether answers of an earlier start of this run are there."""
        ...

    def close(self) -> None:
        """Let go of what it holds open."""
        ...


class Ledger:
    """Remembers the last published batch, for sinks that cannot be asked what they hold."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def last(self) -> int:
        """The last batch that was published; -1 before the first."""
        return int(self._path.read_text()) if self._path.exists() else -1

    def enter(self, batch: int) -> None:
        """Note that a batch was published."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(self._path, str(batch).encode())


class CallbackSink:
    """Calls a function with (batch, table).

    A crash between the call and its entry in the ledger repeats the call with the same batch id, so
    a function that acts on the outside keeps that id beside its effect.
    """

    def __init__(self, call: Callable[[int, pa.Table], None], ledger: Ledger) -> None:
        self._call, self._ledger = call, ledger

    def publish(self, batch: int, answers: pa.Table) -> bool:
        """Call the function, unless the ledger has the batch."""
        if batch <= self._ledger.last:
            return False
        if answers.num_rows:
            self._call(batch, answers)
        self._ledger.enter(batch)
        return True

    def any_published(self) -> bool:
        """Whether the ledger has an entry."""
        return self._ledger.last >= 0

    def close(self) -> None:
        """Nothing is held open."""


class ParquetSink:
    """One file per batch, named after it and its run; a file that is there is left as it is."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run
        folder.mkdir(parents=True, exist_ok=True)

    def publish(self, batch: int, answers: pa.Table) -> bool:
        """Write the batch's file."""
        path = self._folder / f"batch-{batch:012d}-{self._run}.parquet"
        if path.exists():
            return False
        if answers.num_rows:
            data = pa.BufferOutputStream()
            pyarrow.parquet.write_table(answers, data)
            write_durably(path, data.getvalue())
        return True

    def any_published(self) -> bool:
        """Whether there is a file of a batch."""
        return any(self._folder.glob(f"batch-*-{self._run}.parquet"))

    def close(self) -> None:
        """Nothing is held open."""


class SpoolSink:
    """Appends to a spool, tagged with run and batch, so that the same batch is appended once."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run
        self._spool: Spool | None = None

    def publish(self, batch: int, answers: pa.Table) -> bool:
        """Append the batch."""
        if not answers.num_rows:
            return True
        if self._spool is None:
            self._spool = Spool(self._folder, str(Schema.from_arrow(answers.schema)))
        return self._spool.append(answers, tag=f"{self._run}-{batch}") > 0

    def any_published(self) -> bool:
        """Whether the spool has an append of this run."""
        return any(self._folder.glob(f"p*/*-{self._run}-*.arrow"))

    def close(self) -> None:
        """Nothing is held open."""


def show(batch: int, answers: pa.Table) -> None:
    """Print a batch's answers as a table."""
    table = Table()
    for name in answers.column_names:
        table.add_column(name)
    for row in answers.slice(0, SHOWN_ROWS).to_pylist():
        table.add_row(*(str(value) for value in row.values()))
    console = Console(file=sys.stdout)
    console.print(f"batch {batch}: {answers.num_rows} answers")
    console.print(table)


def open_sink(
    target: Target, folder: Path, run: str, keys: Sequence[str] = (), final: bool = False
) -> Publisher:
    """The publisher for a target; `folder` is the run's own place for a ledger.

    `keys` are the columns that name an answer, for sinks that tell answers apart by a key; `final`
    says that no answer will be followed by a newer one.
    """
    ledger = Ledger(folder / "published")
    match target.kind:
        case "spool":
            return SpoolSink(Path(target.address), run)
        case "parquet":
            return ParquetSink(Path(target.address), run)
        case "kafka":
            return KafkaSink(target.address, f"{run}-{folder.name}", keys, final)
        case "console":
            return CallbackSink(show, ledger)
        case "callback":
            assert target.call is not None
            return CallbackSink(target.call, ledger)

"""The face of early answers: annotate a table with `progress`, ask a question with `ask`."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from headway.clock import Clock, SystemClock
from headway.early.chunks import Budget, Chunk, Size, Spent, next_chunk
from headway.early.read.query import tables_in
from headway.early.relation import Step
from headway.early.sampling import Sampling
from headway.engine.early.answers import Answer
from headway.engine.early.evaluate import Plan, compute, plan_question
from headway.engine.early.journal import Journal
from headway.engine.early.sources import our_spark, read_source
from headway.engine.early.storage import Stored, annotate
from headway.engine.early.views import Tables, common_points, session_beside
from headway.engine.early.why import Lineage
from headway.errors import HeadwayError, QueryError

Table = Stored | DataFrame | str | Path


def progress(
    data: DataFrame | str | Path,
    by: str | tuple[str, ...] | Sampling | None = None,
    *,
    points: int = 20,
    seed: int = 0,
    growth: float = 1.0,
    folder: str | Path | None = None,
    spark: SparkSession | None = None,
) -> Stored:
    """Give each tuple of a table its progress and keep the table in a folder.

    `by` is the column whose hash decides (equal keys of several tables enter together), `None` to
    go by the whole row, or a Sampling for every other strategy.
    """
    frame, source = read_source(data, spark)
    if isinstance(by, Sampling):
        sampling = by
    elif by is None:
        sampling = Sampling("row", (), points, seed, growth)
    else:
        keys = (by,) if isinstance(by, str) else tuple(by)
        sampling = Sampling("key", keys, points, seed, growth)
    place = Path(folder) if folder is not None else Path(tempfile.mkdtemp(prefix="headway-")) / "t"
    return annotate(frame, sampling, place, source)


def ask(
    sql: str,
    tables: Mapping[str, Table],
    *,
    points: int | None = None,
    folder: str | Path | None = None,
    budget: Budget | None = None,
    chunk: int | None = None,
    spark: SparkSession | None = None,
    clock: Clock | None = None,
) -> Asking:
    """Ask a question of annotated tables; iterate over the answers, and stop whenever it is enough.

    A table that is not annotated is there from the start, as a dimension is. With `folder`, the
    answers are kept, and asking again goes on after the last complete point. `chunk` fixes how
    many points each Spark job answers; otherwise jobs grow within the budget.
    """
    stored, session = settled(mentioned(sql, tables), spark)
    every = common_points(stored)
    wanted = min(points or every, every)
    batch = -(-every // wanted)
    beside = session_beside(session)
    seen = Tables(beside, stored, -(-every // batch), batch)
    way = Way(budget or Budget(), chunk, clock or SystemClock())
    return Asking(seen, plan_question(seen, sql), folder, way)


def mentioned(sql: str, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables that a question reads, by their names in lower case."""
    read = tables_in(sql)
    return {name.lower(): table for name, table in tables.items() if name.lower() in read}


def settled(
    tables: Mapping[str, Table], spark: SparkSession | None
) -> tuple[dict[str, Stored], SparkSession]:
    """Every table annotated; those that are not yet are there from the start."""
    if not tables:
        raise QueryError(
            "the question reads none of its tables: pass tables={'orders': hw.progress(...)}"
        )
    stored: dict[str, Stored] = {}
    for name, table in tables.items():
        if not isinstance(table, Stored):
            place = Path(tempfile.mkdtemp(prefix="headway-")) / name
            frame, source = read_source(table, spark)
            table = annotate(frame, Sampling("start", points=1), place, source)
        stored[name] = table
    return stored, spark or our_spark()


@dataclass(frozen=True, slots=True)
class Way:
    """How answers are paced: by a budget, or in chunks of a fixed size."""

    budget: Budget
    chunk: int | None
    clock: Clock

    def next(self, size: Size, done: list[Spent], forgets: bool) -> Chunk | None:
        """The next chunk, or None after the last point."""
        if self.chunk is None:
            return next_chunk(size, done, replace(self.budget, forgets=forgets))
        first = done[-1].chunk.last + 1 if done else 0
        last = min(len(size.shares), first + self.chunk) - 1
        return Chunk(first, last) if first <= last else None


class Asking:
    """A question under way: iterate over its answers, each exact for the tuples of its point."""

    def __init__(self, tables: Tables, plan: Plan, folder: str | Path | None, way: Way) -> None:
        self.tables, self._plan, self._way = tables, plan, way
        self._journal = Journal(Path(folder), identity(tables, plan)) if folder else None
        self._spent: list[Spent] = []
        self._size = tables.size()
        self._lineage = Lineage(tables, plan)

    @property
    def explained(self) -> Step:
        """Which rule computes each operator, and why."""
        return self._plan.step

    @property
    def points(self) -> int:
        return self.tables.points

    @property
    def spent(self) -> tuple[Spent, ...]:
        """The chunks that were computed so far, and what each took."""
        return tuple(self._spent)

    def __iter__(self) -> Iterator[Answer]:
        """The answers in order of progress."""
        rows: pa.Table | None = None
        if self._journal is not None:
            for chunk, found in self._journal.kept():
                self._spent.append(Spent(chunk, 0.0))
                rows = self._with(rows, found)
                yield from self._answers(chunk, rows)
        if not self._spent and self.points > 1:
            threading.Thread(target=self._look_ahead, daemon=True).start()
        while (wanted := self._next()) is not None:
            begun = self._way.clock.steady_s()
            found = compute(self.tables, self._plan, wanted)
            self._spent.append(Spent(wanted, self._way.clock.steady_s() - begun))
            if self._journal is not None:
                self._journal.keep(wanted, found)
            rows = self._with(rows, found)
            yield from self._answers(wanted, rows)

    def _next(self) -> Chunk | None:
        """The next chunk; that of the first answer is known before any rule is chosen."""
        forgets = bool(self._spent) and self._plan.forgets
        return self._way.next(self._size, self._spent, forgets)

    def _with(self, rows: pa.Table | None, found: pa.Table) -> pa.Table:
        """What is answered after a chunk: its rows, and those before it where they stay."""
        if rows is None or not self._plan.forgets:
            return found
        return pa.concat_tables([rows, found.cast(rows.schema)])

    def _look_ahead(self) -> None:
        """Open what the last answer needs and choose its rules, while Spark computes the first."""
        # Whatever fails here fails again where it is waited for, and is told there.
        with suppress(HeadwayError, Py4JError, OSError):
            if not self._plan.forgets:
                self.tables.open_upto(self.points - 1)

    def _answers(self, chunk: Chunk, rows: pa.Table) -> Iterator[Answer]:
        for point in chunk.points:
            yield Answer(
                point, self.points, self._size.shares[point], rows, self._plan.shape, self._lineage
            )


def identity(tables: Tables, plan: Plan) -> str:
    """What an answer depends on: the question, the points and the annotated tables."""
    said: list[Any] = [plan.sql, tables.points, tables.batch]
    for name, one in sorted(tables.stored.items()):
        said.append((name, one.sampling.as_json(), one.entering, one.source))
    return hashlib.sha256(repr(said).encode()).hexdigest()

"""The tables of a question as Spark sees them at a chunk of points, in a session of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headway.early.chunks import Chunk, Size
from headway.early.contracts import Contract
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.read.total import stands_as_it_is, totally_ordered
from headway.early.relation import FIRST, LAST, quoted
from headway.engine.early.storage import Stored, first_line, type_text, view_by_point
from headway.engine.spark.session import UNADORNED, lanes_of
from headway.errors import QueryError, RunError

Rows = TypeVar("Rows", covariant=True)
# Small jobs, one plan shape: what adapts while it runs would only cost time.
SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Tables lie apart by the key that they are sampled by; a join by more columns keeps to it.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # A file that is gone is no table of fewer tuples.
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    # Files of one point are sorted by it, and Spark says so of tables only if it is asked.
    "spark.sql.legacy.bucketedTableScan.outputOrdering": "true",
    **UNADORNED,
}


class Source(Protocol):
    """A table with progress: at rest on disk, or handed over by another question."""

    @property
    def schema(self) -> StructType: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def types(self) -> dict[str, str]: ...
    @property
    def contract(self) -> Contract: ...
    @property
    def contract_at_once(self) -> Contract: ...
    @property
    def inclusive(self) -> bool: ...
    @property
    def points(self) -> int: ...
    @property
    def entering(self) -> tuple[int, ...]: ...
    @property
    def rows(self) -> int: ...
    @property
    def anew(self) -> bool: ...
    @property
    def said(self) -> tuple[object, ...]: ...
    def view(self, spark: SparkSession, name: str, last: int, first: int = 0) -> str: ...
    def unread(self, spark: SparkSession, name: str) -> str: ...


def session_beside(spark: SparkSession) -> SparkSession:
    """A session with the same functions and views, whose own views and settings disturb nobody."""
    cloned = spark._jsparkSession.cloneSession()
    beside = SparkSession(spark.sparkContext, jsparkSession=cloned)
    for name, value in SETTINGS.items():
        beside.conf.set(name, value)
    beside.conf.set("spark.sql.shuffle.partitions", str(lanes_of(spark).cores))
    return beside


@contextmanager
def active_as_before() -> Iterator[None]:
    """Whoever makes rows in Python makes its session the active one: only until this is over."""
    before = SparkSession.getActiveSession()
    try:
        yield
    finally:
        if before is not None:
            make_active(before)


def make_active(session: SparkSession) -> None:
    """Let what does not say which session it wants have this one."""
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)
    SparkSession._activeSession = session


@dataclass(frozen=True, slots=True)
class Tables:
    """The annotated tables of a question, seen at `points` points, each of `batch` stored ones.

    `session` is one of our own, beside that of whoever asks, which is `home`.
    """

    session: SparkSession
    stored: Mapping[str, Source]
    points: int
    batch: int = 1
    home: SparkSession | None = None
    _types: dict[str, list[str]] = field(default_factory=dict, compare=False)

    @property
    def at_rest(self) -> bool:
        """Whether all tables are on disk, and none is what another question has still to answer."""
        return all(isinstance(one, Stored) for one in self.stored.values())

    @property
    def column_types(self) -> dict[str, dict[str, str]]:
        """The types of each table's columns."""
        return {name: one.types for name, one in self.stored.items()}

    @property
    def tasks_of_point(self) -> int:
        """How many tasks the tuples of each point are for where it has files of its own, or none.

        That takes tables at rest, and of those that grow the same progress for the same key.
        """
        stored = [one for one in self.stored.values() if isinstance(one, Stored)]
        moving = [one for one in stored if not one.contract.at_start]
        alike = {(one.contract.function, one.clusters.count, bool(one.by_point)) for one in moving}
        if len(stored) < len(self.stored) or len(alike) != 1:
            return 0
        function, count, by_point = alike.pop()
        return count * self.batch if function and by_point else 0

    def filled(self, sql: str, chunk: Chunk, alone: bool = False, by_point: bool = False) -> str:
        """SQL of ours over the tables that it reads, at the points of a chunk.

        Tuples that entered before the chunk are in it from its first point on; `alone` leaves them
        out. `by_point`, those of each point are for tasks of their own.
        """
        tables = (
            f"`hw_{name}` AS ({self._at(name, sql, chunk, alone, by_point)})"
            for name in self._read(sql)
        )
        return with_tables(at_points(sql, chunk), tables)

    def growing_in(self, sql: str) -> list[str]:
        """The tables that SQL of ours reads and that are not there from the start."""
        return [name for name in self._read(sql) if not self.stored[name].contract.at_start]

    def _read(self, sql: str) -> list[str]:
        """The tables that SQL of ours reads."""
        return [name for name in self.stored if f"`hw_{name}`" in sql]

    def _at(self, name: str, sql: str, chunk: Chunk, alone: bool, by_point: bool) -> str:
        """The tuples of a table that hold in a chunk, none earlier than its first point.

        Only what SQL of ours names is shown: Spark looks at every column that is, for each chunk.
        """
        one = self.stored[name]
        view = self._view(name, chunk.last, chunk.first if alone else 0, by_point)
        start, end = self._interval(one)
        held = "" if one.inclusive else f" WHERE {self._held(one, chunk.first)}"
        # Java compiles a query with a number in it anew for each number, so none without need.
        later = alone and isinstance(one, Stored) and not one.contract.at_start
        begun = start if later or not chunk.first else f"GREATEST({start}, {chunk.first})"
        read, whole = sql.lower(), f"SELECT * FROM `hw_{name}`" in sql
        named = [column for column in quoted(one.columns) if whole or column.lower() in read]
        shown = [*named, f"{begun} AS {FROM}", f"CAST({end} AS INT) AS {UNTIL}"]
        return f"SELECT {', '.join(shown)} FROM {view}{held}"

    def stabbed(self, sql: str, point: int, but: Collection[str] = ()) -> str:
        """A query over the tuples of one point, and nothing of progress; `but` some as they are."""
        tables = []
        for name, one in self.stored.items():
            held = "" if one.inclusive else f" WHERE {self._held(one, point)}"
            if name not in but:
                rows = f"SELECT {', '.join(quoted(one.columns))} FROM {self._view(name, point)}"
                tables.append(f"`{name}` AS ({rows}{held})")
        return with_tables(as_table(sql), tables)

    def unread(self, sql: str) -> str:
        """A query over tables of the same columns: to ask for types, no more."""
        tables = (f"`{name}` AS ({self._unread(name)})" for name in self.stored)
        return with_tables(as_table(sql), tables)

    def _unread(self, name: str) -> str:
        one = self.stored[name]
        return f"SELECT {', '.join(quoted(one.columns))} FROM {one.unread(self.session, name)}"

    def open_upto(self, last: int) -> None:
        """Open the files of all tables up to a point."""
        for name in self.stored:
            self._view(name, last)

    def _interval(self, one: Source) -> tuple[str, str]:
        """Both ends of a tuple's interval at the points that are asked for, as SQL."""
        end = str(FOREVER) if one.inclusive else UNTIL
        if self.batch == 1:
            return FROM, end
        coarse = f"IF({UNTIL} = {FOREVER}, {UNTIL}, {UNTIL} DIV {self.batch})"
        return f"CAST({FROM} DIV {self.batch} AS INT)", end if one.inclusive else coarse

    def _held(self, one: Source, point: int) -> str:
        """Whether a tuple of a table that tuples leave is there at a point or after it, as SQL."""
        start, end = self._interval(one)
        return f"{end} > {point} AND {start} < {end}"

    def _view(self, name: str, last: int, first: int = 0, by_point: bool = False) -> str:
        """The tuples of a table that enter between two points, as SQL."""
        bounds = ((last + 1) * self.batch - 1, first * self.batch)
        one = self.stored[name]
        if by_point and isinstance(one, Stored) and one.by_point:
            return view_by_point(self.session, one, *bounds)
        return self.stored[name].view(self.session, name, *bounds)

    def size(self) -> Size:
        """How many tuples of moving tables there are, and the part that is in by each point."""
        moving = [one for one in self.stored.values() if not one.contract.at_start]
        total = sum(one.rows for one in moving)
        if not total:
            return Size((1.0,) * self.points)
        entered = [
            sum(sum(one.entering[: (point + 1) * self.batch]) for one in moving)
            for point in range(self.points)
        ]
        return Size(tuple(count / total for count in entered), total)

    def types(self, sql: str, texts: Sequence[str]) -> list[str]:
        """The types of expressions over a relation, as Spark finds them; it is asked once."""
        asked = f"SELECT {', '.join(texts)} FROM ({sql})"
        if asked not in self._types:
            empty = (
                f"`hw_{name}` AS (SELECT *, 0 AS {FROM}, 0 AS {UNTIL} FROM ({self._unread(name)}))"
                for name in self._read(sql)
            )
            text = with_tables(at_points(asked, Chunk(0, 0)), empty)
            found = analysed(self.session, text).schema
            self._types[asked] = [type_text(field.dataType) for field in found]
        return self._types[asked]


def with_tables(sql: str, tables: Iterable[str]) -> str:
    """SQL over tables that are said in it.

    >>> with_tables("SELECT * FROM t", ["t AS (SELECT 1)"])
    'WITH t AS (SELECT 1) SELECT * FROM t'
    """
    said = ", ".join(tables)
    return f"WITH {said} {sql}" if said else sql


def as_table(query: str) -> str:
    """A query as one that reads it, so that it may begin with tables of its own.

    A comment may end it, so what follows begins a line.
    """
    text = query.strip().removesuffix(";")
    return f"SELECT * FROM ({text}\n)"


def at_points(sql: str, chunk: Chunk) -> str:
    """SQL with the points of a chunk in place of what stands for them."""
    return sql.replace(FIRST, str(chunk.first)).replace(LAST, str(chunk.last))


def analysed(session: SparkSession, sql: str) -> DataFrame:
    """A query as Spark understands it, or its complaint as an error of ours."""
    try:
        return session.sql(sql)
    except (AnalysisException, ParseException) as error:
        # Spark's plan below its complaint says nothing to whoever wrote the query, nor does a place
        # in what the query was made into.
        raise QueryError(re.sub(r";? line \d+ pos \d+$", "", first_line(error))) from error


def collected(frame: DataFrame) -> pa.Table:
    """The rows of a query."""
    with told_when_run():
        return frame.toArrow()


class Work(Protocol[Rows]):
    """The rows of a chunk, wherever they are wanted, not computed yet.

    They are planned when they are asked for, or before.
    """

    def plan(self) -> None: ...
    def rows(self) -> Rows: ...


@dataclass(frozen=True, slots=True)
class Job:
    """The rows of a chunk's answers, not computed yet.

    Rows of a point by itself are given their progress when they are here (`point`): a number in a
    query is compiled into its code, and each point would have code of its own.
    """

    frame: DataFrame
    point: int | None = None

    def plan(self) -> None:
        """Let Spark plan the job, which is most of what it does before tasks begin."""
        execution: Any = self.frame._jdf.queryExecution()
        execution.executedPlan()

    def rows(self) -> pa.Table:
        """The rows, computed now."""
        found = collected(self.frame)
        return found if self.point is None else with_progress(found, always(self.point, found))


def with_progress(rows: pa.Table, begun: pa.Array) -> pa.Table:
    """Rows that hold from some point on, as all answers have them: columns by number, both ends."""
    names = [*(f"c{n}" for n in range(rows.num_columns)), FROM, UNTIL]
    return pa.table([*rows.columns, begun, always(FOREVER, rows)], names)


def always(point: int, rows: pa.Table) -> pa.Array:
    """The same point for each row."""
    return pa.repeat(pa.scalar(point, pa.int32()), len(rows))


@contextmanager
def told_when_run() -> Iterator[None]:
    """What fails while a query runs is told in Spark's first line."""
    try:
        yield
    except PySparkException as error:
        raise RunError(f"the query failed while it ran: {first_line(error)}") from error
    except Py4JJavaError as error:
        cause: Any = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        said = str(cause.getMessage()).partition("\n")[0]
        raise RunError(f"the query failed while it ran: {said}") from error


def understood(tables: Tables, sql: str) -> tuple[DataFrame, bool]:
    """The question as Spark understands it, and whether that is over the tuples of the first point.

    Else it is over none, and says what the columns are. Refuses what is not one fact.
    """
    first = first_point(tables, sql)
    frame = analysed(tables.session, tables.unread(sql)) if first is None else first
    plan: Any = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        raise QueryError(
            "the query uses a function that is not deterministic, so its early answers could not "
            "be repeated; mark the function as deterministic or take it out"
        )
    return frame, first is not None


def first_point(tables: Tables, sql: str) -> DataFrame | None:
    """The question over the tuples of the first point; None where Spark must be asked otherwise.

    What Spark complains of is to be what the user wrote, so it is asked that then.
    """
    if not tables.at_rest:
        return None
    with suppress(QueryError):
        if stands_as_it_is(sql):
            return analysed(tables.session, tables.stabbed(totally_ordered(sql), 0))
    return None


def anew(frame: DataFrame) -> DataFrame:
    """The same query, not run yet: it keeps nothing of another run, and no failure of one."""
    session = frame.sparkSession
    dataset = session._jvm.org.apache.spark.sql.classic.Dataset  # type: ignore[union-attr]
    plan: Any = frame._jdf.queryExecution().analyzed()
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)


def common_points(stored: Mapping[str, Source]) -> int:
    """The number of points that all moving tables agree on."""
    found = {name: one.points for name, one in stored.items() if not one.contract.at_start}
    if len(set(found.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in sorted(found.items()))
        raise QueryError(f"tables must be annotated with as many points; {said}")
    return next(iter(found.values()), 1)

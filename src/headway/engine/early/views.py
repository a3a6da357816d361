"""The tables of a question as Spark sees them at a chunk of points, in a session of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headway.early.chunks import Chunk, Size
from headway.early.contracts import Contract
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.relation import FIRST, LAST, quoted
from headway.engine.early.storage import Stored, first_line
from headway.engine.spark.session import lanes_of
from headway.errors import QueryError, RunError

# Small jobs, one plan shape: what adapts while it runs would only cost time.
SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
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
    def read(self, spark: SparkSession, last: int, first: int = 0) -> DataFrame: ...


def session_beside(spark: SparkSession) -> SparkSession:
    """A session with the same functions and views, whose own views and settings disturb nobody."""
    cloned = spark._jsparkSession.cloneSession()
    beside = SparkSession(spark.sparkContext, jsparkSession=cloned)
    for name, value in SETTINGS.items():
        beside.conf.set(name, value)
    beside.conf.set("spark.sql.shuffle.partitions", str(lanes_of(spark).cores))
    return beside


@dataclass(frozen=True, slots=True)
class Tables:
    """The annotated tables of a question, seen at `points` points, each of `batch` stored ones."""

    session: SparkSession
    stored: Mapping[str, Source]
    points: int
    batch: int = 1
    _frames: dict[tuple[str, int, int], DataFrame] = field(default_factory=dict, compare=False)
    _types: dict[str, list[str]] = field(default_factory=dict, compare=False)

    def at(self, chunk: Chunk, alone: bool = False) -> None:
        """Make the views hold the tuples of a chunk, none earlier than its first point.

        Tuples that entered before the chunk are in it from its first point on; `alone` leaves them
        out.
        """
        for name, one in self.stored.items():
            frame = self._upto(name, chunk.last, chunk.first if alone else 0)
            start, end = self._interval(one)
            if not one.inclusive:
                frame = frame.where(f"{end} > {chunk.first} AND {start} < {end}")
            begun = f"GREATEST({start}, {chunk.first})" if chunk.first else start
            shown = [*quoted(one.columns), f"{begun} AS {FROM}", f"CAST({end} AS INT) AS {UNTIL}"]
            frame.selectExpr(*shown).createOrReplaceTempView(f"hw_{name}")

    def stabbed(self, point: int) -> None:
        """Make the tables themselves hold the tuples of one point, and nothing of progress."""
        for name, one in self.stored.items():
            frame = self._upto(name, point)
            if not one.inclusive:
                start, end = self._interval(one)
                frame = frame.where(f"{end} > {point} AND {start} < {end}")
            frame.selectExpr(*quoted(one.columns)).createOrReplaceTempView(name)

    def named(self, sql: str) -> str:
        """A query of the tables by their own names, over the views that `at` has made."""
        plain = sql.strip().removesuffix(";")
        views = ", ".join(
            f"`{name}` AS (SELECT {', '.join(quoted(one.columns))} FROM `hw_{name}`)"
            for name, one in self.stored.items()
        )
        # A comment may end the query, so what follows it begins a line.
        return f"WITH {views} SELECT * FROM ({plain}\n)"

    def open_upto(self, last: int) -> None:
        """Open the files of all tables up to a point."""
        for name in self.stored:
            self._upto(name, last)

    def _interval(self, one: Source) -> tuple[str, str]:
        """Both ends of a tuple's interval at the points that are asked for, as SQL."""
        end = str(FOREVER) if one.inclusive else UNTIL
        if self.batch == 1:
            return FROM, end
        coarse = f"IF({UNTIL} = {FOREVER}, {UNTIL}, {UNTIL} DIV {self.batch})"
        return f"CAST({FROM} DIV {self.batch} AS INT)", end if one.inclusive else coarse

    def _upto(self, name: str, last: int, first: int = 0) -> DataFrame:
        """The tuples of a table that enter by a point; what was opened once stays open."""
        one, bounds = self.stored[name], ((last + 1) * self.batch - 1, first * self.batch)
        if not isinstance(one, Stored):
            return one.read(self.session, *bounds)
        if (name, first, last) not in self._frames:
            self._frames[name, first, last] = one.read(self.session, *bounds)
        return self._frames[name, first, last]

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
        asked = f"SELECT {', '.join(texts)} FROM ({self.filled(sql)})"
        if asked not in self._types:
            found = analysed(self.session, asked).schema
            self._types[asked] = [field.dataType.simpleString() for field in found]
        return self._types[asked]

    def filled(self, sql: str, chunk: Chunk | None = None) -> str:
        """SQL with the points of a chunk in place of what stands for them."""
        chunk = chunk or Chunk(0, self.points - 1)
        return sql.replace(FIRST, str(chunk.first)).replace(LAST, str(chunk.last))


def analysed(session: SparkSession, sql: str) -> DataFrame:
    """A query as Spark understands it, or its complaint as an error of ours."""
    try:
        return session.sql(sql)
    except (AnalysisException, ParseException) as error:
        # Spark's plan below its complaint says nothing to whoever wrote the query.
        raise QueryError(first_line(error)) from error


def collected(frame: DataFrame) -> pa.Table:
    """The rows of a query."""
    with told_when_run():
        return frame.toArrow()


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


def expected_schema(tables: Tables, sql: str) -> StructType:
    """The columns of the answer as Spark names and types them; refuses what is not one fact.

    The tables are asked as they are at the first point, which is what is computed first.
    """
    tables.at(Chunk(0, 0))
    frame = analysed(tables.session, tables.named(sql))
    plan: Any = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        raise QueryError(
            "the query uses a function that is not deterministic, so its early answers could not "
            "be repeated; mark the function as deterministic or take it out"
        )
    return frame.schema


def common_points(stored: Mapping[str, Source]) -> int:
    """The number of points that all moving tables agree on."""
    found = {name: one.points for name, one in stored.items() if not one.contract.at_start}
    if len(set(found.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in sorted(found.items()))
        raise QueryError(f"tables must be annotated with as many points; {said}")
    return next(iter(found.values()), 1)

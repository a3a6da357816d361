"""The tables of a question as Spark sees them at a chunk of points, in a session of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headway.early.chunks import Chunk, Size
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.relation import FIRST, LAST, quoted
from headway.engine.early.storage import Stored, first_line, read_upto
from headway.engine.spark.session import lanes_of
from headway.errors import QueryError, RunError

# Small jobs, one plan shape: what adapts while it runs would only cost time.
SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}


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
    stored: Mapping[str, Stored]
    points: int
    batch: int = 1
    _frames: dict[tuple[str, int, int], DataFrame] = field(default_factory=dict, compare=False)

    def at(self, chunk: Chunk, alone: bool = False) -> None:
        """Make the views hold the tuples of a chunk, none earlier than its first point.

        Tuples that entered before the chunk are in it from its first point on; `alone` leaves them
        out.
        """
        for name, one in self.stored.items():
            frame = self._upto(name, chunk.last, chunk.first if alone else 0)
            start, end = self._interval(one)
            if not one.sampling.inclusive:
                frame = frame.where(f"{end} > {chunk.first} AND {start} < {end}")
            begun = f"GREATEST({start}, {chunk.first})" if chunk.first else start
            shown = [*quoted(one.columns), f"{begun} AS {FROM}", f"CAST({end} AS INT) AS {UNTIL}"]
            frame.selectExpr(*shown).createOrReplaceTempView(f"hw_{name}")

    def stabbed(self, point: int) -> None:
        """Make the tables themselves hold the tuples of one point, and nothing of progress."""
        for name, one in self.stored.items():
            frame = self._upto(name, point)
            if not one.sampling.inclusive:
                start, end = self._interval(one)
                frame = frame.where(f"{end} > {point} AND {start} < {end}")
            frame.selectExpr(*quoted(one.columns)).createOrReplaceTempView(name)

    def open_upto(self, last: int) -> None:
        """Open the files of all tables up to a point."""
        for name in self.stored:
            self._upto(name, last)

    def _interval(self, one: Stored) -> tuple[str, str]:
        """Both ends of a tuple's interval at the points that are asked for, as SQL."""
        end = str(FOREVER) if one.sampling.inclusive else UNTIL
        if self.batch == 1:
            return FROM, end
        coarse = f"IF({UNTIL} = {FOREVER}, {UNTIL}, {UNTIL} DIV {self.batch})"
        return f"CAST({FROM} DIV {self.batch} AS INT)", end if one.sampling.inclusive else coarse

    def _upto(self, name: str, last: int, first: int = 0) -> DataFrame:
        """The tuples of a table that enter by a point; what was opened once stays open."""
        if (name, first, last) not in self._frames:
            bounds = (last + 1) * self.batch - 1, first * self.batch
            self._frames[name, first, last] = read_upto(self.session, self.stored[name], *bounds)
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
        """The types of expressions over a relation, as Spark finds them."""
        found = analysed(self.session, f"SELECT {', '.join(texts)} FROM ({self.filled(sql)})")
        return [field.dataType.simpleString() for field in found.schema]

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


def collected(session: SparkSession, sql: str) -> pa.Table:
    """The rows of a query; what fails while it runs is told in Spark's first line."""
    frame = analysed(session, sql)
    try:
        return frame.toArrow()
    except PySparkException as error:
        raise RunError(f"the query failed while it ran: {first_line(error)}") from error


def expected_schema(tables: Tables, sql: str) -> StructType:
    """The columns of the answer as Spark names and types them; refuses what is not one fact."""
    tables.stabbed(0)
    frame = analysed(tables.session, sql)
    plan: Any = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        raise QueryError(
            "the query uses a function that is not deterministic, so its early answers could not "
            "be repeated; mark the function as deterministic or take it out"
        )
    return frame.schema


def common_points(stored: Mapping[str, Stored]) -> int:
    """The number of points that all moving tables agree on."""
    found = {name: one.sampling.points for name, one in stored.items() if not one.contract.at_start}
    if len(set(found.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in sorted(found.items()))
        raise QueryError(f"tables must be annotated with as many points; {said}")
    return next(iter(found.values()), 1)

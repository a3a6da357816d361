"""Where an answer comes from: the tuples behind a row, and the row that they replay to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F

from headway.early.chunks import Chunk
from headway.early.contracts import AT_START
from headway.early.lineage import behind
from headway.early.read.total import totally_ordered
from headway.engine.early.evaluate import SqlPlan, known_of
from headway.engine.early.stages.fed import Fed
from headway.engine.early.stages.reducing import ReducerPlan
from headway.engine.early.views import Tables, active_as_before, analysed
from headway.errors import QueryError


@dataclass(frozen=True, slots=True)
class Why:
    """The tuples of each table behind some rows of an answer, and what the query makes of them."""

    tuples: dict[str, pa.Table]
    replayed: pa.Table


class Lineage:
    """Explains the answers of one question."""

    def __init__(self, tables: Tables, plan: SqlPlan | ReducerPlan) -> None:
        self._tables, self._plan = tables, plan

    def frame(self, table: pa.Table) -> Any:
        """An Arrow table as a DataFrame of the user's Spark."""
        return (self._tables.home or self._tables.session).createDataFrame(table)

    def why(self, point: int, key: dict[str, Any]) -> Why:
        """The tuples that hold at a point and that the rows with these values were made of."""
        if isinstance(self._plan, ReducerPlan):
            raise QueryError("a reducer's rows are made by its function, so they are not traced")
        if self._plan.query is None:
            raise QueryError("this query is recomputed as a whole, so its rows are not traced")
        fed = [name for name, one in self._tables.stored.items() if isinstance(one, Fed)]
        if fed:
            raise QueryError(
                f"{', '.join(fed)} is a stage, and its rows are gone when they were read; ask the "
                "stage itself why, or ask all of it in one query"
            )
        names = list(self._plan.schema.names)
        unknown = [name for name in key if name not in names]
        if unknown or not key:
            raise QueryError(
                f"say which row by its columns, such as why({names[0]}=...); "
                f"there are {', '.join(names)}" + (f", not {', '.join(unknown)}" if unknown else "")
            )
        shown = self._plan.query.shown
        wanted = {shown[names.index(name)]: value for name, value in key.items()}
        still = dict.fromkeys(self._tables.stored, AT_START)
        known = known_of(self._tables, self._plan.query, still)
        traced = behind(self._plan.query, known, tuple(wanted))
        found = {}
        for table, sql in traced.items():
            text = self._tables.filled(sql, Chunk(point, point))
            frame = analysed(self._tables.session, text)
            for n, value in enumerate(wanted.values()):
                column = frame[f"hw_key_of_row_{n}"]
                frame = frame.where(column.isNull() if value is None else column == value)
            found[table] = self._among(table, point, frame)
        return self._replayed(point, found, wanted)

    def _among(self, table: str, point: int, traced: Any) -> Any:
        """The tuples of a table that were traced, each as often as the table holds it."""
        stored = self._tables.stored[table]
        text = self._tables.filled(f"SELECT * FROM `hw_{table}`", Chunk(point, point))
        base = analysed(self._tables.session, text)
        base = base.select(*(f"`{column}`" for column in stored.columns)).alias("b")
        some = traced.select(*(f"`{column}`" for column in stored.columns)).distinct().alias("s")
        same = [F.col(f"b.`{c}`").eqNullSafe(F.col(f"s.`{c}`")) for c in stored.columns]
        return base.join(some, same, "left_semi")

    def _replayed(self, point: int, found: dict[str, Any], wanted: dict[str, Any]) -> Why:
        """Run the query over the traced tuples alone."""
        tuples = {name: frame.toArrow() for name, frame in found.items()}
        session = self._tables.session
        with active_as_before():
            for name, rows in tuples.items():
                schema = self._tables.stored[name].schema
                session.createDataFrame(rows, schema=schema).createOrReplaceTempView(name)
        text = self._tables.stabbed(totally_ordered(self._plan.said), point, but=tuples)
        names = self._plan.schema.names
        return Why(tuples, analysed(session, text).toDF(*names).toArrow())

"""One question evaluated chunk by chunk: by rules where there are some, else point by point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from pyspark.sql.types import StructType

from headway.early.algebra import Query
from headway.early.chunks import Chunk
from headway.early.contracts import AT_START, Contract
from headway.early.lower import lower_query
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.read.query import read_query
from headway.early.read.total import totally_ordered
from headway.early.relation import Known, Relation, Step
from headway.engine.early.answers import Shape, order_by
from headway.engine.early.views import Tables, collected, expected_schema
from headway.errors import NoRule, QueryError


@dataclass(frozen=True)
class Plan:
    """How a question is answered: its query as the algebra has it, its shape, and its rules.

    A query that the algebra lacks is recomputed at each point; `missing` says what it lacks.
    """

    tables: Tables
    sql: str
    schema: StructType
    query: Query | None = None
    missing: str = ""

    @cached_property
    def many(self) -> Relation:
        """The relation that answers several points at once, by the contracts of the tables."""
        return self._lowered({name: one.contract for name, one in self.tables.stored.items()})

    @cached_property
    def single(self) -> Relation:
        """The relation that answers one point, whose tuples are all there."""
        return self._lowered(dict.fromkeys(self.tables.stored, AT_START))

    def _lowered(self, contracts: dict[str, Contract]) -> Relation:
        assert self.query is not None
        return lower_query(self.query, Known(contracts, self.tables.types))

    @property
    def forgets(self) -> bool:
        """Whether each chunk adds to what earlier ones answered, and needs none of their tuples."""
        return self.query is not None and self.many.forgets

    @cached_property
    def shape(self) -> Shape:
        """The columns of the answer, and what orders its rows."""
        names = tuple(self.schema.names)
        if self.query is None:
            return Shape(names)
        return Shape(names, order_by(self.single.columns, self.query.order))

    @property
    def step(self) -> Step:
        """Which rule computes each operator, and why."""
        if self.query is None:
            return Step("query", "recompute", f"no rule for {self.missing}")
        return self.many.step


def plan_question(tables: Tables, sql: str) -> Plan:
    """Read the question and choose rules; what no rule covers is recomputed, and says so.

    Only the first point's tuples are opened: whatever is done here, the first answer waits for.
    """
    schema = expected_schema(tables, sql)
    columns = {name: one.types for name, one in tables.stored.items()}
    tables.at(Chunk(0, 0))
    try:
        plan = Plan(tables, sql, schema, read_query(sql, columns))
        plan.single  # noqa: B018 - Spark understood the query itself; does it our reading of it?
    except NoRule as missing:
        return Plan(tables, sql, schema, missing=str(missing))
    except QueryError as misread:
        return Plan(tables, sql, schema, missing=f"our reading of it: {misread}")
    return plan


def compute(tables: Tables, plan: Plan, chunk: Chunk) -> pa.Table:
    """The rows of all answers of a chunk, with their intervals."""
    if plan.query is None:
        return recomputed(tables, plan, chunk)
    alone = chunk.first > 0 and plan.many.forgets
    tables.at(chunk, alone)
    relation = plan.single if chunk.first == chunk.last and not alone else plan.many
    text = tables.filled(with_types(relation, plan), chunk)
    return collected(tables.session, text)


def with_types(relation: Relation, plan: Plan) -> str:
    """The relation with its shown columns in the types that Spark gives the whole query."""
    shown = [
        f"CAST(`{column}` AS {field.dataType.simpleString()}) AS c{n}"
        for n, (column, field) in enumerate(zip(relation.columns, plan.schema, strict=False))
    ]
    hidden = [f"`{c}` AS c{len(shown) + n}" for n, c in enumerate(relation.columns[len(shown) :])]
    return f"SELECT {', '.join([*shown, *hidden, FROM, UNTIL])} FROM ({relation.sql})"


def recomputed(tables: Tables, plan: Plan, chunk: Chunk) -> pa.Table:
    """Every point by itself, over its tuples: always right, only slower."""
    parts = []
    for point in chunk.points:
        tables.stabbed(point)
        rows = collected(tables.session, totally_ordered(plan.sql))
        rows = rows.rename_columns([f"c{n}" for n in range(rows.num_columns)])
        until = point + 1 if point < tables.points - 1 else FOREVER
        rows = rows.append_column(FROM, pa.array([point] * rows.num_rows, pa.int32()))
        parts.append(rows.append_column(UNTIL, pa.array([until] * rows.num_rows, pa.int32())))
    return pa.concat_tables(parts)

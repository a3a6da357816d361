"""One question evaluated chunk by chunk: by rules where there are some, else point by point."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.types import StructType

from headway.early.algebra import Query
from headway.early.chunks import Chunk
from headway.early.contracts import AT_START
from headway.early.lower import lower_query
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.read.query import parse, read_query
from headway.early.read.total import totally_ordered
from headway.early.relation import Known, Relation, Step
from headway.engine.early.answers import Shape, order_by
from headway.engine.early.views import Tables, analysed, expected_schema
from headway.errors import NoRule, QueryError


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is answered: SQL for chunks of many points and of one, and its shape."""

    sql: str
    shape: Shape
    schema: StructType
    step: Step
    query: Query | None = None
    many: Relation | None = None
    single: Relation | None = None


def plan_question(tables: Tables, sql: str) -> Plan:
    """Read the question and choose rules; what no rule covers is recomputed, and says so."""
    parse(sql)
    schema = expected_schema(tables, sql)
    names = tuple(schema.names)
    columns = {name: one.types for name, one in tables.stored.items()}
    tables.at(Chunk(0, tables.points - 1))
    try:
        query = read_query(sql, columns)
        contracts = {name: one.contract for name, one in tables.stored.items()}
        many = lower_query(query, Known(contracts, tables.types))
        still = dict.fromkeys(contracts, AT_START)
        single = lower_query(query, Known(still, tables.types))
    except NoRule as missing:
        step = Step("query", "recompute", f"no rule for {missing}")
        return Plan(sql, Shape(names), schema, step)
    except QueryError as misread:
        # Spark understood the query itself, so what it does not understand is our reading of it.
        step = Step("query", "recompute", f"no rule fits: {misread}")
        return Plan(sql, Shape(names), schema, step)
    shape = Shape(names, order_by(many.columns, query.order))
    return Plan(sql, shape, schema, many.step, query, many, single)


def compute(tables: Tables, plan: Plan, chunk: Chunk) -> pa.Table:
    """The rows of all answers of a chunk, with their intervals."""
    if plan.many is None or plan.single is None:
        return recomputed(tables, plan, chunk)
    tables.at(chunk)
    relation = plan.single if chunk.first == chunk.last else plan.many
    text = tables.filled(with_types(relation, plan), chunk)
    return analysed(tables.session, text).toArrow()


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
        rows = analysed(tables.session, totally_ordered(plan.sql)).toArrow()
        rows = rows.rename_columns([f"c{n}" for n in range(rows.num_columns)])
        until = point + 1 if point < tables.points - 1 else FOREVER
        rows = rows.append_column(FROM, pa.array([point] * rows.num_rows, pa.int32()))
        parts.append(rows.append_column(UNTIL, pa.array([until] * rows.num_rows, pa.int32())))
    return pa.concat_tables(parts)

"""Reducers on Spark: the tuples of all inputs that share a key meet in one function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, cast

import pyarrow as pa
from pyspark.errors import ParseException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from headway.early.chunks import Chunk
from headway.early.contracts import Contract
from headway.early.ordering import sorted_rows
from headway.early.progress import FROM, UNTIL
from headway.early.reducing import Reducer, contract_of, reduced
from headway.early.relation import Step, quoted
from headway.engine.early.answers import Shape
from headway.engine.early.stages.parts import kept_schema
from headway.engine.early.states import States
from headway.engine.early.storage import first_line
from headway.engine.early.views import Job, Tables, analysed
from headway.errors import QueryError

Function = Callable[[Any, pa.Table], pa.Table]


@dataclass(frozen=True)
class ReducerPlan:
    """How a reducer is answered: its inputs, the columns of its rows, and what it may forget."""

    tables: Tables
    reducer: Reducer
    schema: StructType
    made: StructType

    @property
    def said(self) -> str:
        return self.reducer.said

    @cached_property
    def contract(self) -> Contract:
        inputs = [one.contract for one in self.tables.stored.values()]
        return contract_of(self.reducer.by, inputs)

    @property
    def forgets(self) -> bool:
        """Whether each key is complete when its point has come."""
        moving = self.contract.inclusive and not self.contract.at_start
        return moving and not any(one.anew for one in self.tables.stored.values())

    @property
    def slices(self) -> bool:
        return self.forgets

    @property
    def states(self) -> States:
        return States()

    @property
    def shape(self) -> Shape:
        return Shape(tuple(self.schema.names))

    @property
    def step(self) -> Step:
        """Which way of calling the function is taken, and why."""
        names = tuple(Step("table", name, "") for name in self.tables.stored)
        if self.reducer.sees_progress:
            rule, because = "progress-aware", "it says itself when its rows hold"
        elif self.forgets:
            rule, because = "complete", "progress follows its key, so it is called once a key"
        else:
            rule, because = "at each point", "called for a key whenever the key's tuples change"
        return Step(f"reducer {self.reducer.name}", rule, because, names)

    def frame(self, chunk: Chunk) -> DataFrame:
        """The rows of all answers of a chunk with their intervals, not computed yet."""
        names = list(self.tables.stored)
        sides = [self._side(n, names, chunk) for n in range(len(names))]
        together = reduce(DataFrame.unionByName, sides)
        keys = [f"k{n}" for n in range(len(self.reducer.by))]
        function = called(self.reducer, names, chunk, to_arrow_schema(self.made))
        return together.groupBy(*keys).applyInArrow(function, kept_schema(self.schema))

    def _side(self, n: int, names: list[str], chunk: Chunk) -> DataFrame:
        """One input: its keys, its tuples in a column of their own, and their progress."""
        alone = chunk.first > 0 and self.forgets
        text = self.tables.filled(f"SELECT * FROM `hw_{names[n]}`", chunk, alone)
        view = analysed(self.tables.session, text)
        keys = [F.col(f"`{name}`").alias(f"k{i}") for i, name in enumerate(self.reducer.by)]
        inside = []
        for i, name in enumerate(names):
            one = self.tables.stored[name]
            whole = (
                F.struct(*quoted(one.columns)) if i == n else F.lit(None).cast(loose(one.schema))
            )
            inside.append(whole.alias(f"t{i}"))
        return view.select(*keys, *inside, F.lit(n).alias("hw_input"), FROM, UNTIL)

    def job(self, chunk: Chunk) -> Job:
        """The job that computes a chunk for whoever asks."""
        return Job(self.frame(chunk))

    def compute(self, chunk: Chunk) -> pa.Table:
        """The rows of all answers of a chunk, with their intervals."""
        return self.job(chunk).rows()


def loose(schema: StructType) -> StructType:
    """The same columns, each of which may be NULL."""
    return StructType([StructField(one.name, one.dataType) for one in schema])


def called(reducer: Reducer, names: list[str], chunk: Chunk, shape: pa.Schema) -> Function:
    """The function that Spark calls for each key: it takes the inputs apart and sorts them."""

    def reduce_key(key: Any, rows: pa.Table) -> pa.Table:
        values = {name: one.as_py() for name, one in zip(reducer.by, key, strict=True)}
        tables = {name: input_of(rows, n) for n, name in enumerate(names)}
        found = reduced(reducer, values, tables, chunk, shape)
        before = [pa.repeat(one, found.num_rows) for one in key]
        arrays = [*before, *(column for column in found.columns)]
        width = len(arrays) - 2
        return pa.table(arrays, names=[*(f"c{n}" for n in range(width)), FROM, UNTIL])

    return reduce_key


def input_of(rows: pa.Table, n: int) -> pa.Table:
    """The tuples of the n-th input with their progress, in an order that is one fact."""
    mine = rows.filter(pa.compute.equal(rows["hw_input"], n))
    tuples = mine.column(f"t{n}").combine_chunks()
    parts = tuples.flatten() if mine.num_rows else [pa.nulls(0, one.type) for one in tuples.type]
    names = [one.name for one in tuples.type]
    table = pa.table([*parts, mine[FROM], mine[UNTIL]], names=[*names, FROM, UNTIL])
    return sorted_rows(table)


def plan_reducer(tables: Tables, reducer: Reducer) -> ReducerPlan:
    """Find the keys in all inputs and read what the function declares."""
    for name, one in tables.stored.items():
        missing = [key for key in reducer.by if key not in one.columns]
        if missing:
            raise QueryError(
                f"{reducer.name} goes by {', '.join(missing)}, which {name} does not have; "
                f"it has {', '.join(one.columns)}"
            )
    try:
        made = cast(StructType, StructType.fromDDL(reducer.returns))
    except ParseException as error:
        raise QueryError(
            f"what {reducer.name} returns is said as 'name type, ...'; {first_line(error)}"
        ) from error
    first = next(iter(tables.stored.values()))
    schema = StructType([*(first.schema[key] for key in reducer.by), *made])
    return ReducerPlan(tables, reducer, schema, made)

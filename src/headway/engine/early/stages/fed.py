"""A table that another question answers: its rows are those that were handed over."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headway.early.chunks import Chunk, Size
from headway.early.contracts import AT_START, Contract
from headway.early.progress import FROM, UNTIL
from headway.early.relation import Step
from headway.engine.early.stages.handed import Part
from headway.engine.early.states import States
from headway.engine.early.storage import type_text
from headway.engine.early.views import Tables, Work
from headway.errors import QueryError


class Plan(Protocol):
    """How a question is answered, chunk by chunk."""

    @property
    def slices(self) -> bool: ...
    @property
    def states(self) -> States: ...
    def frame(self, chunk: Chunk) -> DataFrame: ...
    def job(self, chunk: Chunk) -> Work[pa.Table]: ...
    def compute(self, chunk: Chunk) -> pa.Table: ...


class Stage(Protocol):
    """A question as those see it that read its answers, or that carry it out."""

    size: Size
    folder: Path | None

    @property
    def tables(self) -> Tables: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def schema(self) -> StructType: ...
    @property
    def contract(self) -> Contract: ...
    @property
    def forgets(self) -> bool: ...
    @property
    def points(self) -> int: ...
    @property
    def identity(self) -> str: ...
    @property
    def explained(self) -> Step: ...
    def look_ahead(self) -> None: ...


@dataclass
class Fed:
    """The answers of a stage as a table; `parts` are the chunks that the next job reads."""

    stage: Stage
    parts: tuple[Part, ...] = field(default=())

    @property
    def schema(self) -> StructType:
        return self.stage.schema

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    @property
    def types(self) -> dict[str, str]:
        return {field.name: type_text(field.dataType) for field in self.schema}

    @cached_property
    def contract(self) -> Contract:
        return self.stage.contract

    @property
    def contract_at_once(self) -> Contract:
        """The same where all rows are there: rows that were handed over lie anywhere."""
        return AT_START

    @property
    def inclusive(self) -> bool:
        return self.contract.inclusive

    @property
    def points(self) -> int:
        return self.stage.points

    @property
    def entering(self) -> tuple[int, ...]:
        """How many tuples of the tables far below enter at each point."""
        shares = self.stage.size.shares
        before = (0.0, *shares)
        return tuple(
            round((now - was) * self.stage.size.rows)
            for was, now in zip(before, shares, strict=False)
        )

    @property
    def rows(self) -> int:
        return sum(self.entering)

    @property
    def anew(self) -> bool:
        """Whether each chunk brings all rows again: then none can be told to be an earlier one."""
        return not self.stage.forgets and not self.contract.at_start

    @property
    def said(self) -> tuple[object, ...]:
        return ("stage", self.stage.identity)

    def view(self, spark: SparkSession, name: str, last: int, first: int = 0) -> str:
        """The rows that were handed over, as a view of this table's name."""
        wanted = [part for part in self.parts if part.chunk.last >= first or self.contract.at_start]
        if not wanted:
            return self.unread(spark, name)
        rows = reduce(DataFrame.unionAll, [part.read(spark) for part in wanted])
        named = [f"c{n} AS `{column}`" for n, column in enumerate(self.columns)]
        rows.selectExpr(*named, FROM, UNTIL).createOrReplaceTempView(f"hwrows_{name}")
        return f"`hwrows_{name}`"

    def unread(self, spark: SparkSession, name: str) -> str:
        """No rows, in the right columns."""
        types = self.types | {FROM: "INT", UNTIL: "INT"}
        shown = (f"CAST(NULL AS {kind}) AS `{column}`" for column, kind in types.items())
        return f"(SELECT {', '.join(shown)} WHERE FALSE)"


def check_columns(name: str, schema: StructType) -> None:
    """Rows are handed over by the names of their columns, so each needs one of its own."""
    lower = [column.lower() for column in schema.names]
    twice = sorted({column for column in lower if lower.count(column) > 1})
    ours = [column for column in lower if column.startswith("hw_")]
    if twice or ours:
        said = f"{', '.join(twice)} twice" if twice else f"{', '.join(ours)}, a name of ours"
        raise QueryError(f"the stage {name} has the column {said}; give its columns names with AS")

"""A question under way: its answers one after the other, and the stages that feed it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.sql.types import StructType

from headway.early.chunks import Chunk, Size, Spent
from headway.early.contracts import Contract
from headway.early.relation import Step
from headway.engine.early.answers import Answer
from headway.engine.early.evaluate import SqlPlan
from headway.engine.early.journal import Journal, claim
from headway.engine.early.stages.fed import Fed
from headway.engine.early.stages.line import Line, feds_of, longest, stages_under
from headway.engine.early.stages.parts import chunks_on_disk
from headway.engine.early.stages.reducing import ReducerPlan
from headway.engine.early.stages.schedule import Schedule, Way
from headway.engine.early.views import Tables
from headway.engine.early.why import Lineage
from headway.errors import HeadwayError


class Asking:
    """A question under way: iterate over its answers, each exact for the tuples of its point.

    As a table of another question it is a stage: what it answers is handed over chunk by chunk.
    """

    def __init__(
        self, tables: Tables, plan: SqlPlan | ReducerPlan, folder: Path | None, way: Way
    ) -> None:
        self.tables, self.plan, self.folder, self._way = tables, plan, folder, way
        self.size: Size = tables.size()
        self._schedule = Schedule(way, self.size, lambda: False)
        self._lineage = Lineage(tables, plan)
        if folder is not None:
            claim(folder, self.identity)

    @property
    def explained(self) -> Step:
        """Which rule computes each operator, and why; below it the stages that feed it."""
        named = [(name, one) for name, one in self.tables.stored.items() if isinstance(one, Fed)]
        if not named:
            return self.plan.step
        fed = tuple(
            Step("stage", name, "handed over chunk by chunk", (one.stage.explained,))
            for name, one in named
        )
        return replace(self.plan.step, under=(*self.plan.step.under, *fed))

    @property
    def points(self) -> int:
        return self.tables.points

    @property
    def schema(self) -> StructType:
        return self.plan.schema

    @property
    def contract(self) -> Contract:
        return self.plan.contract

    @property
    def forgets(self) -> bool:
        return self.plan.forgets

    @property
    def spent(self) -> tuple[Spent, ...]:
        """The chunks that were computed so far, and what each took."""
        return self._schedule.spent

    @cached_property
    def identity(self) -> str:
        """What an answer depends on: the question, the points and the annotated tables."""
        told = [(name, one.said) for name, one in sorted(self.tables.stored.items())]
        said = [self.plan.said, self.tables.points, self.tables.batch, *told]
        return hashlib.sha256(repr(said).encode()).hexdigest()

    def __iter__(self) -> Iterator[Answer]:
        """The answers in order of progress."""
        under = stages_under(self)
        journal = Journal(self.folder) if self.folder else None
        rows: pa.Table | None = None
        kept = list(journal.kept()) if journal else []
        self._schedule = schedule = self._scheduled([chunk for chunk, _ in kept])
        for chunk, found in kept:
            rows = self._with(rows, found)
            yield from self._answers(chunk, rows)
        if not kept and not under and self.points > 1:
            threading.Thread(target=self.look_ahead, daemon=True).start()
        with Line(self, schedule, self._way.clock, len(kept), self._way.at_once) as line:
            n = len(kept)
            while (wanted := schedule.chunk(n)) is not None:
                found = line.compute(n, wanted)
                if journal is not None:
                    journal.keep(wanted, found)
                rows = self._with(rows, found)
                yield from self._answers(wanted, rows)
                n += 1

    def _scheduled(self, kept: list[Chunk]) -> Schedule:
        """The chunks of this run, beginning with those that an earlier one has computed."""
        under = stages_under(self)
        all_of_them = [self, *under]

        def slices() -> bool:
            return all(stage.plan.slices for stage in all_of_them)

        schedule = Schedule(self._way, self.size, slices)
        left = [chunks_on_disk(stage.folder) for stage in under if stage.folder is not None]
        schedule.begin_with(longest([kept, *left]))
        return schedule

    def _with(self, rows: pa.Table | None, found: pa.Table) -> pa.Table:
        """What is answered after a chunk: its rows, and those before it where they stay."""
        if rows is None or not self.plan.forgets:
            return found
        return pa.concat_tables([rows, found.cast(rows.schema)])

    def look_ahead(self) -> None:
        """Open what the last answer needs and choose its rules, while Spark computes the first."""
        # Whatever fails here fails again where it is waited for, and is told there.
        with suppress(HeadwayError, Py4JError, OSError):
            if not self.plan.slices and not feds_of(self):
                self.tables.open_upto(self.points - 1)

    def _answers(self, chunk: Chunk, rows: pa.Table) -> Iterator[Answer]:
        for point in chunk.points:
            yield Answer(
                point, self.points, self.size.shares[point], rows, self.plan.shape, self._lineage
            )

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
from headway.early.estimating import totals_in, unfit_to_estimate, warnings_of
from headway.early.relation import Step
from headway.engine.early.answers import Answer, with_estimates
from headway.engine.early.evaluate import SqlPlan
from headway.engine.early.kept.journal import Journal, claim
from headway.engine.early.stages.fed import Fed, Stage
from headway.engine.early.stages.line import Line, feds_of, longest, stages_under
from headway.engine.early.stages.parts import chunks_on_disk
from headway.engine.early.stages.reducing import ReducerPlan
from headway.engine.early.stages.schedule import Schedule, Way
from headway.engine.early.storage import Stored, check_there
from headway.engine.early.views import Source, Tables
from headway.engine.early.why import Lineage
from headway.errors import HeadwayError, QueryError, RunError

# What Spark says when rows are gone that it held for later chunks, and how often that is borne.
LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
TRIES = 3


class Asking:
    """A question under way: iterate over its answers, each exact for the tuples of its point.

    As a table of another question it is a stage: what it answers is handed over chunk by chunk.
    """

    def __init__(
        self,
        tables: Tables,
        plan: SqlPlan | ReducerPlan,
        folder: Path | None,
        way: Way,
        estimates: bool = False,
    ) -> None:
        self.tables, self.plan, self.folder, self._way = tables, plan, folder, way
        self.size: Size = tables.size()
        self._schedule = Schedule(way, self.size, lambda: False)
        self._lineage = Lineage(tables, plan)
        self._history = History(self) if estimates else None
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
    def warnings(self) -> tuple[str, ...]:
        """Why early answers may mislead, though each is exact for its tuples."""
        return tuple(warnings_of(self.plan.step))

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
        """The chunks that were decided so far, and what all stages took for each.

        Of one that is computed ahead of its turn it is how long it was waited for.
        """
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
        for stage in [self, *under]:
            for name, table in stage.tables.stored.items():
                if isinstance(table, Stored):
                    check_there(name, table)
        journal = Journal(self.folder) if self.folder else None
        rows: pa.Table | None = None
        kept = list(journal.kept()) if journal else []
        self._schedule = schedule = self._scheduled(under, [chunk for chunk, _ in kept])
        for chunk, found in kept:
            rows = self._with(rows, found)
            yield from self._answers(chunk, rows)
        if not kept and not under and self.points > 1:
            threading.Thread(target=self.look_ahead, daemon=True).start()
        for chunk, found in self._computed(schedule, len(kept)):
            if journal is not None:
                journal.keep(chunk, found)
            rows = self._with(rows, found)
            yield from self._answers(chunk, rows)

    def _computed(self, schedule: Schedule, begin: int) -> Iterator[tuple[Chunk, pa.Table]]:
        """Chunk after chunk; what was lost with an executor is computed again from the tables."""
        n, tries = begin, 0
        while schedule.chunk(n) is not None:
            try:
                with Line(self, schedule, self._way.clock, n, self._way.at_once) as line:
                    while (wanted := schedule.chunk(n)) is not None:
                        yield wanted, line.compute(n, wanted)
                        n += 1
            except RunError as error:
                tries += 1
                if LOST not in str(error.__cause__) or tries > TRIES:
                    raise

    def _scheduled(self, under: list[Stage], kept: list[Chunk]) -> Schedule:
        """The chunks of this run, beginning with those that an earlier one has computed."""

        def slices() -> bool:
            return all(stage.plan.slices for stage in [self, *under])

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
            share, told = self.size.shares[point], self._history
            answer = Answer(
                point, self.points, share, rows, self.plan.shape, self._lineage,
                told.estimates if told else None,
            )  # fmt: skip
            if told is not None:
                told.keep(answer)
            yield answer


class History:
    """The answers so far, from which it is estimated what they grow to."""

    def __init__(self, asking: Asking) -> None:
        plan = asking.plan
        query = plan.query if isinstance(plan, SqlPlan) else None
        totals = totals_in(query) if query is not None else None
        if totals is None:
            raise QueryError(
                "nothing here can be estimated: it takes a query that shows counts or sums of "
                "groups, with all columns that it groups by"
            )
        unfit = [name for name, one in asking.tables.stored.items() if not fit_to_scale(one)]
        if unfit:
            raise QueryError(
                f"{', '.join(unfit)} does not grow as a sample of itself: estimates need tables "
                "that grow by a hash of a key or of the row, and that no tuple leaves"
            )
        why = [*asking.warnings, unfit_to_estimate(asking.plan.step)]
        if why[0]:
            raise QueryError(f"nothing is estimated here: {why[0]}")
        self._totals = totals
        self._told: list[Answer] = []

    def keep(self, answer: Answer) -> None:
        self._told = [one for one in self._told if one.point < answer.point]
        self._told.append(answer)

    def estimates(self, answer: Answer) -> pa.Table:
        before = [one for one in self._told if one.point <= answer.point]
        return with_estimates(before, self._totals)


def fit_to_scale(table: Source) -> bool:
    """Whether what has entered is a fair sample of the table."""
    if not isinstance(table, Stored):
        return False
    return table.contract.at_start or (table.inclusive and table.sampling.kind in ("key", "row"))

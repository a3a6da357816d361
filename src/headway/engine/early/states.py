"""What sums keep from chunk to chunk: partial results in Spark's memory, merged as they grow.

With them a chunk reads its own tuples and no earlier ones. They are rows that Spark holds where
they were computed and spills to disk if it must, so there may be few of them or many.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from headway.early.chunks import Chunk
from headway.early.progress import FROM
from headway.early.relation import ROWS, State
from headway.engine.early.views import Tables, analysed


@dataclass(frozen=True, slots=True)
class Generation:
    """What a chunk, up to its last point, adds to a state: its own rows, and all before merged."""

    last: int
    frames: list[DataFrame] = field(default_factory=list)


class States:
    """The partial results of one question, up to the last point that was planned.

    A chunk reads what it and the one before it keep. Stages plan chunks ahead, so what is kept
    stays until the chunk after it is computed.
    """

    def __init__(self) -> None:
        self._upto = -1
        self._kept: dict[str, DataFrame] = {}
        self._held: dict[str, list[Generation]] = {}
        self._lock = threading.Lock()

    def reach(self, chunk: Chunk) -> bool:
        """Whether all that entered before a chunk is in them."""
        return chunk.first > 0 and self._upto == chunk.first - 1

    def advance(self, tables: Tables, states: tuple[State, ...], chunk: Chunk) -> None:
        """Make the views of all states hold what a chunk's answers are made of.

        What was kept is merged to one row for each key and enters before the chunk; then come the
        partial results of the chunk's own tuples.
        """
        goes_on = self.reach(chunk)
        for state in states:
            held = self._begun(state.view, chunk)
            text = tables.filled(state.partial, chunk, alone=goes_on)
            rows = held_in(held, analysed(tables.session, text))
            if goes_on:
                before = held_in(held, merged(tables, state, self._kept[state.view]))
                entered = before.selectExpr("*", f"{chunk.first - 1} AS {FROM}")
                rows = entered.unionByName(rows)
            self._kept[state.view] = rows
            rows.createOrReplaceTempView(state.view)
        self._upto = chunk.last

    def _begun(self, view: str, chunk: Chunk) -> Generation:
        generation = Generation(chunk.last)
        with self._lock:
            self._held.setdefault(view, []).append(generation)
        return generation

    def computed(self, chunk: Chunk) -> None:
        """A chunk is computed: what was kept before it, and is merged by now, is let go.

        A state that Spark saw no need to read is not merged yet: it waits for a later chunk.
        """
        with self._lock:
            for generations in self._held.values():
                before = [one for one in generations if one.last < chunk.last]
                merging = generations[len(before) : len(before) + 1]
                if merging and all(is_computed(rows) for rows in merging[0].frames):
                    del generations[: len(before)]
                    let_go_all(before)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            for generations in self._held.values():
                let_go_all(generations)
            self._held.clear()
        self._upto = -1
        self._kept.clear()


def held_in(generation: Generation, frame: DataFrame) -> DataFrame:
    """A frame whose rows stay as long as its generation."""
    kept = put_by(frame)
    generation.frames.append(kept)
    return kept


def let_go_all(generations: Iterable[Generation]) -> None:
    """Give back the memory of generations that nobody reads any more."""
    for generation in generations:
        for frame in generation.frames:
            let_go(frame)


def merged(tables: Tables, state: State, rows: DataFrame) -> DataFrame:
    """All partial results so far as one row for each key."""
    name = f"{state.view}_rows"
    rows.drop(FROM).createOrReplaceTempView(name)
    return analysed(tables.session, state.merge.replace(ROWS, name))


def put_by(frame: DataFrame, now: bool = False) -> DataFrame:
    """The rows of a query, kept where they are computed: `now`, or by the first that reads them.

    What Spark knows of values by what the query asks for is left out: it may speak of columns that
    these rows do not have, and a union of them then fails.
    """
    session = frame.sparkSession
    kept = frame.localCheckpoint(eager=now)
    plan: Any = kept._jdf.queryExecution().logical()
    if not is_kept(plan):
        return kept
    jvm: Any = session._jvm
    spark, sizes, _, checkpointed = (plan.otherCopyArgs().apply(n) for n in range(4))
    bare = plan.copy(
        plan.output(), plan.rdd(), plan.outputPartitioning(), plan.outputOrdering(),
        plan.isStreaming(), plan.stream(), spark, sizes, jvm.scala.Option.empty(), checkpointed,
    )  # fmt: skip
    dataset = jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(session._jsparkSession, bare), session)


def let_go(frame: DataFrame) -> None:
    """Give back the memory of rows that were held."""
    plan: Any = frame._jdf.queryExecution().logical()
    if is_kept(plan):
        plan.rdd().unpersist(False)


def is_computed(frame: DataFrame) -> bool:
    """Whether rows that were put by are there, so that what they are made of may go."""
    plan: Any = frame._jdf.queryExecution().logical()
    return not is_kept(plan) or bool(plan.rdd().isCheckpointed())


def is_kept(plan: Any) -> bool:
    """Whether a plan is rows that were kept."""
    return str(plan.getClass().getSimpleName()) == "LogicalRDD"

"""What sums keep from chunk to chunk: partial results in Spark's memory, merged as they grow.

With them a chunk reads its own tuples and no earlier ones. They are rows that Spark holds where
they were computed and spills to disk if it must, so there may be few of them or many.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from headway.early.chunks import Chunk
from headway.early.progress import FROM
from headway.early.relation import ROWS, State
from headway.engine.early.views import Tables, analysed

# A chunk reads what it and the one before it keep, and stages plan a few chunks ahead.
GENERATIONS = 6


class States:
    """The partial results of one question, up to the last point that was answered."""

    def __init__(self) -> None:
        self._upto = -1
        self._kept: dict[str, DataFrame] = {}
        self._held: list[list[DataFrame]] = []

    def reach(self, chunk: Chunk) -> bool:
        """Whether all that entered before a chunk is in them."""
        return chunk.first > 0 and self._upto == chunk.first - 1

    def advance(self, tables: Tables, states: tuple[State, ...], chunk: Chunk) -> None:
        """Make the views of all states hold what a chunk's answers are made of.

        What was kept is merged to one row for each key and enters before the chunk; then come the
        partial results of the chunk's own tuples.
        """
        goes_on = self.reach(chunk)
        self._held.append([])
        for state in states:
            text = tables.filled(state.partial, chunk, alone=goes_on)
            rows = self._hold(analysed(tables.session, text))
            if goes_on:
                before = self._hold(merged(tables, state, self._kept[state.view]))
                entered = before.selectExpr("*", f"{chunk.first - 1} AS {FROM}")
                rows = entered.unionByName(rows)
            self._kept[state.view] = rows
            rows.createOrReplaceTempView(state.view)
        self._upto = chunk.last
        while len(self._held) > GENERATIONS:
            self._let_go()

    def _hold(self, frame: DataFrame) -> DataFrame:
        kept = put_by(frame)
        self._held[-1].append(kept)
        return kept

    def _let_go(self) -> None:
        for frame in self._held.pop(0):
            let_go(frame)

    def clear(self) -> None:
        """Forget everything."""
        while self._held:
            self._let_go()
        self._upto = -1
        self._kept.clear()


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


def is_kept(plan: Any) -> bool:
    """Whether a plan is rows that were kept."""
    return str(plan.getClass().getSimpleName()) == "LogicalRDD"

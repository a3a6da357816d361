"""Several points answered by one job, the tuples of each in tasks of their own (paper 5, 2.6).

The files of a point are sorted by the key, so tables that are read point by point are joined as
they lie. Where progress follows the key, what a point answers is made of the tuples that enter at
it. A task that has those of one point holds what it makes of them until it ends, and nothing of any
other: a job of many points holds no more at a time than one of a single point does, and is planned
once. Nothing in such a query says of a row when it enters: the task tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from headway.early.chunks import Chunk
from headway.engine.early.views import (
    Tables,
    analysed,
    collected,
    common_points,
    with_progress,
)

TASK = "hw_task"
THE_TASK = f"SPARK_PARTITION_ID() AS {TASK}"
# What of Spark's operators leaves rows in the task that has read them.
STAYING = frozenset(
    f"{name}Exec"
    for name in (
        "WholeStageCodegen", "Project", "Filter", "Sort", "ColumnarToRow", "Expand", "Generate",
        "Window", "WindowGroupLimit", "HashAggregate", "SortAggregate", "ObjectHashAggregate",
        "SortMergeJoin", "BroadcastHashJoin", "ShuffledHashJoin", "ArrowEvalPython",
        "BatchEvalPython",
    )
) | {"InputAdapter"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PointsJob:
    """The rows of several points, not computed yet, each from a task of its point."""

    frame: DataFrame
    tasks_of_point: int

    def plan(self) -> None:
        """It is planned already: else nobody would know that it keeps points apart."""

    def rows(self) -> pa.Table:
        """The rows, computed now."""
        found = collected(self.frame)
        tasks = found[TASK].cast(pa.int32())
        points = pc.divide(tasks, pa.scalar(self.tasks_of_point, pa.int32()))
        return with_progress(found.drop_columns([TASK]), points)


def job_by_point(tables: Tables, sql: str, chunk: Chunk) -> PointsJob | None:
    """A job that answers the points of a chunk from tasks of their own; None if some have more.

    The SQL is that of one point, shows the task of each row, and is of a query that forgets.
    """
    tasks = tables.tasks_of_point
    if not tasks:
        return None
    frame = analysed(tables.session, tables.filled(sql, chunk, alone=True, by_point=True))
    plan: Any = frame._jdf.queryExecution().executedPlan()
    every = common_points(tables.stored) * tasks // tables.batch
    fits = keeps_apart(plan, every) and shuffles_elsewhere(str(plan.toString()), every)
    return PointsJob(frame, tasks) if fits else None


def frame_by_point(
    tables: Tables, sql: str, chunk: Chunk, alone: bool
) -> tuple[DataFrame | None, bool]:
    """A query of several points over the files of each, and whether to ask for it once more.

    There is none if Spark would shuffle rows to files. It takes two tables that grow, to be merged
    as they lie: else there is no use for many small tasks. Where both sides are sorted anyway there
    is none either, but then it is planned already, and another plan would cost as much again.
    Spark takes the place of a file for a hash of its key. It is none, so no row may be sent where
    that hash says: each shuffle must be to fewer places than there are files, or to more.
    """
    tasks = tables.tasks_of_point
    if not tasks or len(tables.growing_in(sql)) < 2:
        return None, False
    frame = analysed(tables.session, tables.filled(sql, chunk, alone, by_point=True))
    plan: Any = frame._jdf.queryExecution().executedPlan()
    every, text = common_points(tables.stored) * tasks // tables.batch, str(plan.toString())
    if not shuffles_elsewhere(text, every):
        return None, False
    return frame, merges_as_it_lies(text)


def merges_as_it_lies(plan: str) -> bool:
    r"""Whether a merge in a plan has a side that is not sorted for it; or nothing is merged.

    >>> merge, one, other = "+- SortMergeJoin [k], [k]", "   :- Sort [k]", "   +- *(2) Sort [k]"
    >>> merges_as_it_lies("\n".join([merge, one, "   :  +- Project [k]", other]))
    False
    >>> merges_as_it_lies("\n".join([merge, "   :- Project [k]", "   :  +- Sort [k]", other]))
    True
    >>> merges_as_it_lies("+- Sort [k]")
    True
    """
    lines = [(len(line) - len(line.lstrip(" :+-")), line) for line in plan.splitlines()]
    merges = [n for n, (_, line) in enumerate(lines) if "SortMergeJoin " in line]
    return not merges or any(not both_sorted(lines[n:]) for n in merges)


def both_sorted(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether the operators right below the first one, by how far in they are, both sort."""
    depth = lines[0][0]
    under = takewhile(lambda line: line[0] > depth, lines[1:])
    sides = [text for inner, text in under if inner == depth + 3]
    return all(" Sort [" in side for side in sides)


SHUFFLE = re.compile(r"\bExchange \w+partitioning\(.*, (\d+)\), [A-Z_]+, \[plan_id", re.IGNORECASE)


def shuffles_elsewhere(plan: str, places: int) -> bool:
    r"""Whether each shuffle of a plan, as Spark shows it, is to another number of places.

    Each operator ends its line; of a plan that is cut short, or a shuffle that does not say where
    to, nobody knows.

    >>> one = "+- Exchange hashpartitioning(k#1L, 20), ENSURE_REQUIREMENTS, [plan_id=7]\n"
    >>> shuffles_elsewhere(one, 20), shuffles_elsewhere(one, 10), shuffles_elsewhere(one[:9], 10)
    (False, True, False)
    >>> shuffles_elsewhere("Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=7]\n", 20)
    True
    """
    for line in plan.splitlines():
        if re.search(r"\bExchange (?!SinglePartition\b)", line):
            told = SHUFFLE.search(line)
            if told is None or int(told[1]) == places:
                return False
    return plan.endswith("\n")


def keeps_apart(plan: Any, tasks: int) -> bool:
    """Whether each task of a plan makes rows of one point, as the files that it scans have.

    What is sent to all tasks is joined to what they have, and moves none of that.
    """
    name = str(plan.getClass().getSimpleName())
    if name == "BroadcastExchangeExec":
        return True
    if name == "ReusedExchangeExec":
        return keeps_apart(plan.child(), tasks)
    if name == "FileSourceScanExec":
        spec = plan.relation().bucketSpec()
        return bool(plan.bucketedScan()) and int(spec.get().numBuckets()) == tasks
    under = plan.children()
    inner = [under.apply(n) for n in range(under.size())]
    return name in STAYING and bool(inner) and all(keeps_apart(one, tasks) for one in inner)

"""What sums keep stays until what is made of it is there, and no longer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headway.early.chunks import Chunk
from headway.early.progress import FROM, UNTIL
from headway.engine.early.answers import Answer
from headway.engine.early.ask import ask, progress
from headway.engine.early.asking import Asking
from headway.engine.early.views import collected

pytestmark = pytest.mark.spark
POINTS = 6
SUMS = "SELECT size, count(*) AS n FROM clicks GROUP BY size"


@pytest.fixture(name="asked")
def made_asked(spark: SparkSession, tmp_path: Path) -> Asking:
    frame = spark.range(600).selectExpr("id AS user", "id % 11 AS size")
    return ask(SUMS, {"clicks": progress(frame, "user", points=POINTS, folder=tmp_path / "t")})


def shown(answer: Answer) -> list[tuple[int, int]]:
    return sorted((row["size"], row["n"]) for row in answer.table.to_pylist())


def holding(rows: pa.Table, point: int) -> list[tuple[int, int]]:
    """The rows that hold at a point."""
    found = [row for row in rows.to_pylist() if row[FROM] <= point < row[UNTIL]]
    return sorted((row["c0"], row["c1"]) for row in found)


def test_what_was_merged_is_let_go_and_the_last_chunk_stays_for_the_next(
    asked: Asking, spark: SparkSession
) -> None:
    def held() -> int:
        return len(spark.sparkContext._jsc.getPersistentRDDs())

    plan, before, seen = asked.plan, held(), []
    for n in range(1, POINTS):
        plan.compute(Chunk(n, n))
        plan.states.computed(Chunk(n, n))
        seen.append(held() - before)
    assert seen == [1, 2, 2, 2, 2], "its own rows, and those before it merged"
    plan.states.clear()
    assert held() == before


def test_chunks_that_are_planned_ahead_find_what_they_merge(asked: Asking) -> None:
    wanted = [shown(one) for one in asked]
    planned = [asked.plan.frame(Chunk(n, n)) for n in range(1, POINTS)]
    for n, frame in enumerate(planned, start=1):
        found = holding(collected(frame), n)
        asked.plan.states.computed(Chunk(n, n))
        assert found == wanted[n]
    asked.plan.states.clear()


def test_what_no_chunk_has_read_yet_stays_until_one_does(asked: Asking) -> None:
    wanted = [shown(one) for one in asked]
    for n in range(1, POINTS - 1):
        asked.plan.frame(Chunk(n, n))
        asked.plan.states.computed(Chunk(n, n))
    rows = asked.plan.compute(Chunk(POINTS - 1, POINTS - 1))
    assert holding(rows, POINTS - 1) == wanted[-1]
    asked.plan.states.clear()

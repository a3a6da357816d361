"""A chunk is computed beside the one before it, and only where it may be."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headway.early.chunks import Chunk
from headway.engine.early.ask import ask, progress
from headway.engine.early.evaluate import SqlPlan
from headway.engine.early.stages.ahead import Ahead
from headway.engine.early.storage import Stored
from headway.engine.early.views import Job
from headway.errors import QueryError

BY_KEY = "SELECT k, sum(v) AS s FROM t GROUP BY k"
OVERALL = "SELECT count(*) AS n FROM t WHERE v > (SELECT avg(v) FROM t)"


@pytest.fixture(name="stored")
def made_stored(spark: SparkSession, tmp_path: Path) -> Stored:
    rows = spark.range(400).selectExpr("id % 40 AS k", "id AS v")
    return progress(rows, by="k", points=5, folder=tmp_path / "t")


@pytest.fixture(name="taken")
def watched_taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Chunk, bool]]:
    """Each chunk that was computed, and whether that was ahead of its turn."""
    seen: list[tuple[Chunk, bool]] = []
    take = Ahead.take

    def watched(ahead: Ahead, chunk: Chunk) -> pa.Table | None:
        found = take(ahead, chunk)
        seen.append((chunk, found is not None))
        return found

    monkeypatch.setattr(Ahead, "take", watched)
    return seen


def test_points_that_are_forgotten_are_computed_ahead(
    spark: SparkSession, stored: Stored, taken: list[tuple[Chunk, bool]]
) -> None:
    answers = list(ask(BY_KEY, {"t": stored}, chunk=1, spark=spark))
    # The first has the machine to itself.
    assert taken == [(Chunk(n, n), n > 0) for n in range(5)]
    at_once = list(ask(BY_KEY, {"t": stored}, chunk=5, spark=spark))
    assert [one.fingerprint for one in answers] == [one.fingerprint for one in at_once]


@pytest.mark.parametrize(("sql", "chunk"), [(BY_KEY, None), (OVERALL, 1)])
def test_what_depends_on_the_chunk_before_is_not(
    spark: SparkSession,
    stored: Stored,
    taken: list[tuple[Chunk, bool]],
    sql: str,
    chunk: int | None,
) -> None:
    assert len(list(ask(sql, {"t": stored}, chunk=chunk, spark=spark))) == 5
    assert [ahead for _, ahead in taken] == [False] * len(taken)


def test_what_fails_ahead_is_told_where_it_is_computed(
    spark: SparkSession, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, asked = SqlPlan.job, list[int]()

    def failing(plan: SqlPlan, chunk: Chunk) -> Job:
        asked.append(chunk.first)
        if chunk.first == 2:
            raise QueryError("no such point")
        return job(plan, chunk)

    monkeypatch.setattr(SqlPlan, "job", failing)
    answers = iter(ask(BY_KEY, {"t": stored}, chunk=1, spark=spark))
    assert [next(answers).point for _ in range(2)] == [0, 1]
    with pytest.raises(QueryError, match="no such point"):
        next(answers)
    assert asked.count(2) == 1  # once is enough


def lingering(value: int) -> int:
    time.sleep(0.02)
    return value


def test_who_stops_early_leaves_nothing_running(spark: SparkSession, stored: Stored) -> None:
    spark.udf.register("lingering", lingering, "bigint")
    slow = "SELECT k, sum(lingering(v)) AS s FROM t GROUP BY k"
    asking = ask(slow, {"t": stored}, chunk=1, spark=spark)
    answers = iter(asking)
    assert [next(answers).point for _ in range(2)] == [0, 1]
    answers.close()  # type: ignore[attr-defined]
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10_000)  # type: ignore[union-attr]
    running = spark.sparkContext.statusTracker().getActiveJobsIds()
    assert list(running) == []

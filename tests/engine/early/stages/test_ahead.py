"""A chunk is computed beside the one before it, and only where it may be."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from headway.early.chunks import Chunk
from headway.early.progress import FROM
from headway.engine.early.ask import ask, progress
from headway.engine.early.evaluate import SqlPlan
from headway.engine.early.stages.ahead import Ahead
from headway.engine.early.storage import Stored
from headway.engine.early.views import Job
from headway.errors import QueryError, RunError

BY_KEY = "SELECT k, sum(v) AS s FROM t GROUP BY k"
SUMS = "SELECT count(*) AS n, sum(s) AS s FROM sums"
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


def left_of(spark: SparkSession) -> tuple[set[str], set[int]]:
    """Views of parts, and rows that Spark holds."""
    views = {one.name for one in spark.catalog.listTables("global_temp")}
    held = spark.sparkContext._jsc.sc().getPersistentRDDs()  # type: ignore[union-attr]
    keys = held.keys().toSeq()
    rows = {int(keys.apply(n)) for n in range(keys.size())}
    return {name for name in views if name.startswith("hw_")}, rows


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


def test_a_stage_over_tables_alone_is_computed_ahead(
    spark: SparkSession, stored: Stored, taken: list[tuple[Chunk, bool]], tmp_path: Path
) -> None:
    told = []
    for at_once, folder in ((True, None), (True, tmp_path), (False, None)):
        place = None if folder is None else folder / "kept"
        stage = ask(BY_KEY, {"t": stored}, chunk=1, folder=place, spark=spark, at_once=at_once)
        last = ask(SUMS, {"sums": stage}, chunk=1, spark=spark, at_once=at_once)
        told.append([one.fingerprint for one in last])
        ahead = [chunk for chunk, found in taken if found]
        assert ahead == ([Chunk(n, n) for n in range(1, 5)] if at_once else [])
        taken.clear()
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == 5


def test_who_stops_a_pipeline_early_leaves_nothing(spark: SparkSession, stored: Stored) -> None:
    spark.udf.register("lingering", lingering, "bigint")
    slow = "SELECT k, sum(lingering(v)) AS s FROM t GROUP BY k"
    before = left_of(spark)
    stage = ask(slow, {"t": stored}, chunk=1, spark=spark)
    answers = iter(ask(SUMS, {"sums": stage}, chunk=1, spark=spark))
    assert next(answers).point == 0
    answers.close()  # type: ignore[attr-defined]
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(10_000)  # type: ignore[union-attr]
    assert list(spark.sparkContext.statusTracker().getActiveJobsIds()) == []
    assert left_of(spark) == before


def test_what_fails_ahead_in_a_stage_is_told(
    spark: SparkSession, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = SqlPlan.frame

    def failing(plan: SqlPlan, chunk: Chunk) -> DataFrame:
        if chunk.first == 2 and plan.sql == BY_KEY:
            raise QueryError("no such point")
        return frame(plan, chunk)

    monkeypatch.setattr(SqlPlan, "frame", failing)
    before = left_of(spark)
    stage = ask(BY_KEY, {"t": stored}, chunk=1, spark=spark)
    answers = iter(ask(SUMS, {"sums": stage}, chunk=1, spark=spark))
    assert [next(answers).point for _ in range(2)] == [0, 1]
    with pytest.raises(QueryError, match="no such point"):
        next(answers)
    assert left_of(spark) == before


def test_what_fails_while_it_is_planned_ahead_is_told_in_one_line(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.range(200).selectExpr("id % 40 AS k", "id AS v")
    grown = progress(rows, by="k", points=4, folder=tmp_path / "t")
    late = spark.read.parquet(str(grown.folder)).where(f"{FROM} = 3").collect()[0]["k"]
    few = spark.range(40).selectExpr("id AS k", f"IF(id = {late}, 'x', '1') AS w")
    tables = {"t": grown, "few": progress(few, by="k", points=4, folder=tmp_path / "few")}
    sql = "SELECT t.k, v + CAST(w AS INT) AS v FROM t JOIN few ON t.k = few.k"
    stage = ask(sql, tables, chunk=1, spark=spark)
    assert stage.forgets
    answers = iter(ask("SELECT sum(v) AS v FROM s", {"s": stage}, chunk=1, spark=spark))
    assert [next(answers).point for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RunError, match=r"^the query failed while it ran: .*CAST_INVALID_INPUT"):
        next(answers)

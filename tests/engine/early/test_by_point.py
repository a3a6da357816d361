"""Several points answered by one job: each from tasks of its own, and no row in a wrong one."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headway.early.chunks import Chunk
from headway.early.sampling import Sampling
from headway.engine.early import storage
from headway.engine.early.ask import ask, progress
from headway.engine.early.by_point import PointsJob
from headway.engine.early.evaluate import SqlPlan, typed
from headway.engine.early.opening import FileSet, of_points, open_files
from headway.engine.early.storage import Stored, columns_of, open_stored
from headway.measure.costs.lanes import Lanes

pytestmark = pytest.mark.spark
POINTS = 4
JOINED = "SELECT a.k, sum(a.v * b.v) AS s, count(*) AS n FROM a, b WHERE a.k = b.k "
FITS = {
    "a join and a group": JOINED + "GROUP BY a.k",
    "a group alone": "SELECT k, sum(v) AS s, max(w) AS m FROM a GROUP BY k",
    "sums of floats": "SELECT k, sum(CAST(v AS DOUBLE) / 7) AS s FROM a GROUP BY k",
    "an order": JOINED + "GROUP BY a.k ORDER BY s DESC, k",
    "one key": JOINED + "AND a.k = 17 GROUP BY a.k",
    "some keys": JOINED + "AND b.k IN (-3, 0, 17, 999) GROUP BY a.k",
    "keys that are null": "SELECT k, count(*) AS n FROM a WHERE k IS NULL GROUP BY k",
    "a table from the start": "SELECT a.k, c.name, sum(a.v) AS s FROM a JOIN c ON a.w = c.w "
    "GROUP BY a.k, c.name",
    "what has no partner": "SELECT a.k, sum(b.w) AS s FROM a LEFT JOIN b ON a.k = b.k AND b.w = 1 "
    "GROUP BY a.k",
    "what is there, and what is not": "SELECT k, count(*) AS n FROM a WHERE k IN (SELECT k FROM b) "
    "AND NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.w = 2) GROUP BY k",
    "a window": "SELECT k, v, rank() OVER (PARTITION BY k ORDER BY v) AS r FROM a",
    "different ones": "SELECT k, count(DISTINCT v) AS d FROM a GROUP BY k",
}
DOES_NOT = {
    "rows as they are": "SELECT k, v FROM a WHERE v > 10",
    "two tables in a row": "SELECT k, count(*) AS n FROM (SELECT k, v FROM a UNION ALL "
    "SELECT k, v FROM b) GROUP BY k",
    "the key moved": "SELECT k + 1 AS l, count(*) AS n FROM a GROUP BY k + 1",
    "all of them": "SELECT sum(v) AS s FROM a",
}


# Not of what enters at a point alone, but joined or grouped by the key on the way.
SORTED = {
    "a join, and groups of all": "SELECT a.w, sum(a.v * b.v) AS s FROM a, b WHERE a.k = b.k "
    "GROUP BY a.w",
    "the most of all keys": "SELECT max(s) AS m FROM (" + JOINED + "GROUP BY a.k)",
    "the first of all keys": JOINED + "GROUP BY a.k ORDER BY s DESC, a.k LIMIT 3",
    "a join, and a table from the start": "SELECT c.name, count(*) AS n FROM a, b, c "
    "WHERE a.k = b.k AND a.w = c.w GROUP BY c.name",
    "rows that have a partner": "SELECT w, count(*) AS n FROM a WHERE EXISTS "
    "(SELECT 1 FROM b WHERE b.k = a.k AND b.w <> a.w) GROUP BY w",
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stored]:
    place = tmp_path_factory.mktemp("by_point")

    def made(name: str, rows: int) -> Stored:
        frame = spark.range(rows).selectExpr(
            "IF(id % 10 = 0, NULL, id % 90 - 30) AS k", "id AS v", "id % 4 AS w"
        )
        return progress(frame, by="k", points=POINTS, folder=place / name)

    names = spark.range(4).selectExpr("id AS w", "CONCAT('n', id) AS name")
    from_start = progress(names, by=Sampling("start", points=1), folder=place / "c")
    return {"a": made("a", 800), "b": made("b", 300), "c": from_start}


def read_by(sql: str, tables: dict[str, Stored]) -> dict[str, Stored]:
    return {name: tables[name] for name in tables if re.search(rf"(FROM|,|JOIN) {name}\b", sql)}


def job_of(
    sql: str, tables: dict[str, Stored], spark: SparkSession, points: int = POINTS
) -> object:
    asking = ask(sql, read_by(sql, tables), points=points, spark=spark)
    assert isinstance(asking.plan, SqlPlan)
    return asking.plan.job(Chunk(0, points - 1))


def plan_text(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def told(sql: str, tables: dict[str, Stored], spark: SparkSession, chunk: int) -> list[str]:
    asking = ask(sql, read_by(sql, tables), chunk=chunk, spark=spark)
    return [answer.fingerprint for answer in asking]


@pytest.mark.parametrize("case", FITS)
def test_points_in_one_job_are_answered_as_each_by_itself(
    spark: SparkSession, tables: dict[str, Stored], case: str
) -> None:
    sql = FITS[case]
    assert isinstance(job_of(sql, tables, spark), PointsJob)
    by_itself = told(sql, tables, spark, 1)
    assert len(set(by_itself)) > 1
    assert told(sql, tables, spark, POINTS) == by_itself


@pytest.mark.parametrize("case", DOES_NOT)
def test_what_may_mix_points_is_answered_otherwise(
    spark: SparkSession, tables: dict[str, Stored], case: str
) -> None:
    sql = DOES_NOT[case]
    assert not isinstance(job_of(sql, tables, spark), PointsJob)
    assert told(sql, tables, spark, POINTS) == told(sql, tables, spark, 1)


@pytest.mark.parametrize("case", SORTED)
def test_files_of_points_are_joined_as_they_lie(
    spark: SparkSession, tables: dict[str, Stored], case: str
) -> None:
    sql = SORTED[case]
    asking = ask(sql, read_by(sql, tables), spark=spark)
    assert isinstance(asking.plan, SqlPlan)
    chunk = Chunk(1, POINTS - 1)
    plan = plan_text(asking.plan.job(chunk).frame)
    count = tables["a"].clusters.count
    shown = f"SelectedBucketsCount: {POINTS * count} out of {POINTS * count}"
    assert plan.count(shown) == 2
    handed_over = plan_text(asking.plan.frame(chunk))
    assert (shown in handed_over, f"out of {count}\n" in handed_over) == (False, True)
    _, _, under_merge = plan.partition("SortMergeJoin")
    assert " Sort [" not in under_merge
    assert asking.plan.refused == set()
    by_itself = told(sql, tables, spark, 1)
    assert told(sql, tables, spark, POINTS) == by_itself


def test_where_both_sides_are_sorted_anyway_the_files_of_points_are_left_alone(
    spark: SparkSession, tables: dict[str, Stored]
) -> None:
    sql = "SELECT a.w, sum(a.v * b.v) AS s FROM a, b WHERE a.k = b.k AND a.w = b.w GROUP BY a.w"
    asking = ask(sql, read_by(sql, tables), chunk=POINTS, spark=spark)
    assert isinstance(asking.plan, SqlPlan)
    assert asking.plan.refused == set()
    assert [answer.fingerprint for answer in asking] == told(sql, tables, spark, 1)
    assert asking.plan.refused == {"by file"}
    again = ask(sql, read_by(sql, tables), spark=spark).plan
    assert isinstance(again, SqlPlan)
    assert again.refused == {"by file"}
    fewer = ask(sql, read_by(sql, tables), points=POINTS // 2, spark=spark).plan
    assert isinstance(fewer, SqlPlan)
    assert fewer.refused == set()


def test_rows_are_never_sent_to_where_a_file_is_said_to_be(
    spark: SparkSession, tables: dict[str, Stored], tmp_path: Path
) -> None:
    frame = spark.range(90).selectExpr("id - 30 AS k", "id AS v", "id % 4 AS w")
    whole = progress(frame, by=Sampling("start", points=1), folder=tmp_path / "d")
    sql = "SELECT a.w, sum(a.v * d.v) AS s FROM a, b, d WHERE a.k = d.k AND a.k = b.k GROUP BY a.w"
    mixed = {**tables, "d": whole}
    wanted = told(sql, mixed, spark, 1)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        asking = ask(sql, read_by(sql, mixed), chunk=POINTS, spark=spark)
        assert isinstance(asking.plan, SqlPlan)
        assert [answer.fingerprint for answer in asking] == wanted
        assert asking.plan.refused == {"by file"}
        places = POINTS * tables["a"].clusters.count
        text = asking.plan.tables.filled(
            typed(asking.plan.many, asking.plan.schema), Chunk(0, POINTS - 1), by_point=True
        )
        assert f", {places}), ENSURE" in plan_text(asking.plan.tables.session.sql(text))
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def test_rows_are_not_sent_there_either_by_what_is_sent_to_all_tasks(
    spark: SparkSession, tables: dict[str, Stored], tmp_path: Path
) -> None:
    frame = spark.range(90_000).selectExpr("id * 2 - 30 AS k", "id AS v", "uuid() AS filler")
    whole = progress(frame, by=Sampling("start", points=1), folder=tmp_path / "d")
    mixed = {**tables, "d": whole}
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "100000")
    try:
        for exists in ("IN", "NOT IN"):
            sql = (
                "SELECT a.k, count(*) AS n FROM a WHERE a.k IN (SELECT b.k FROM b WHERE b.k IS NOT "
                f"NULL AND b.k {exists} (SELECT d.k FROM d WHERE d.k IS NOT NULL)) GROUP BY a.k"
            )
            asking = ask(sql, read_by(sql, mixed), chunk=POINTS, spark=spark)
            assert isinstance(asking.plan, SqlPlan)
            *_, last = asking
            shown = plan_text(asking.plan.job(Chunk(1, POINTS - 1)).frame)
            assert "BroadcastExchange" in shown
            keys = {n % 90 - 30 for n in range(300) if n % 10}
            even = {key for key in keys if key % 2 == 0}
            wanted = even if exists == "IN" else keys - even
            assert set(last.table["k"].to_pylist()) == wanted
            assert told(sql, mixed, spark, POINTS) == told(sql, mixed, spark, 1)
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def test_a_table_that_is_annotated_again_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    sql = FITS["a group alone"]
    for rows in (100, 5_000):
        frame = spark.range(rows).selectExpr("id AS k", "id AS v", "id % 4 AS w")
        stored = progress(frame, by="k", points=POINTS, folder=tmp_path / "a")
        assert isinstance(job_of(sql, {"a": stored}, spark), PointsJob)
        *_, last = ask(sql, {"a": stored}, chunk=POINTS, spark=spark)
        assert last.table.num_rows == rows


def test_a_copy_without_links_is_read_without_them(
    spark: SparkSession, tables: dict[str, Stored], tmp_path: Path
) -> None:
    hidden = shutil.ignore_patterns("_hw_*")
    shutil.copytree(tables["a"].folder, tmp_path / "a", ignore=hidden)
    copied = open_stored(tmp_path / "a")
    assert (copied.by_point, len(tables["a"].by_point) > 0) == ((), True)
    sql = FITS["a group alone"]
    assert told(sql, {"a": copied}, spark, POINTS) == told(sql, tables, spark, 1)


def test_keys_that_enter_at_unlike_points_are_not_taken_to_lie_alike(
    spark: SparkSession, tables: dict[str, Stored], tmp_path: Path
) -> None:
    frame = spark.range(300).selectExpr("id % 90 - 30 AS k", "id AS v", "id % 4 AS w")
    other = progress(frame, by="k", points=POINTS, seed=1, folder=tmp_path / "b")
    assert len(other.by_point) == len(tables["b"].by_point)
    unlike = {**tables, "b": other}
    for sql in (FITS["a join and a group"], SORTED["a join, and groups of all"]):
        asking = ask(sql, read_by(sql, unlike), chunk=POINTS, spark=spark)
        assert asking.tables.tasks_of_point == 0
        assert [answer.fingerprint for answer in asking] == told(sql, unlike, spark, 1)


def test_what_spark_would_shuffle_is_answered_otherwise(
    spark: SparkSession, tables: dict[str, Stored]
) -> None:
    sql = FITS["a table from the start"]
    wanted = told(sql, tables, spark, 1)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        assert not isinstance(job_of(sql, tables, spark), PointsJob)
        assert isinstance(job_of(FITS["a join and a group"], tables, spark), PointsJob)
        assert told(sql, tables, spark, POINTS) == wanted
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def test_fewer_points_than_are_stored_have_more_tasks_each(
    spark: SparkSession, tables: dict[str, Stored]
) -> None:
    sql = FITS["a join and a group"]
    job = job_of(sql, tables, spark, points=2)
    assert isinstance(job, PointsJob)
    assert job.tasks_of_point == 2 * tables["a"].clusters.count
    asked = [
        [one.fingerprint for one in ask(sql, read_by(sql, tables), points=2, chunk=n, spark=spark)]
        for n in (1, 2)
    ]
    assert asked[0] == asked[1] == told(sql, tables, spark, 1)[1::2]


def test_tables_that_lie_unlike_each_other_are_joined_otherwise(
    spark: SparkSession, tables: dict[str, Stored], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "lanes_of", lambda _: Lanes(3, 3))
    frame = spark.range(300).selectExpr("id % 90 - 30 AS k", "id AS v", "id % 4 AS w")
    other = progress(frame, by="k", points=POINTS, folder=tmp_path / "b")
    assert len(other.by_point) > len(tables["b"].by_point)
    sql = FITS["a join and a group"]
    unlike = {**tables, "b": other}
    assert not isinstance(job_of(sql, unlike, spark), PointsJob)
    assert told(sql, unlike, spark, POINTS) == told(sql, unlike, spark, 1)


@pytest.mark.parametrize("how", ["points share files", "no hash", "no links"])
def test_what_has_no_files_for_each_point_is_answered_otherwise(
    spark: SparkSession, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    if how == "no links":
        monkeypatch.setattr(Path, "symlink_to", refuse)
    kind = "double" if how == "no hash" else "bigint"
    points = 30 if how == "points share files" else POINTS
    frame = spark.range(200).selectExpr(f"CAST(id % 60 AS {kind}) AS k", "id AS v")
    stored = progress(frame, by="k", points=points, folder=tmp_path / "t")
    assert stored.by_point == ()
    sql = "SELECT k, sum(v) AS s FROM t GROUP BY k"
    asking = ask(sql, {"t": stored}, spark=spark)
    assert isinstance(asking.plan, SqlPlan)
    assert not isinstance(asking.plan.job(Chunk(1, points - 1)), PointsJob)
    *_, last = asking
    assert last.table.num_rows == 60


def test_a_table_that_is_moved_keeps_the_names_of_its_files(
    spark: SparkSession, tables: dict[str, Stored], tmp_path: Path
) -> None:
    sql = FITS["a group alone"]
    shutil.copytree(tables["a"].folder, tmp_path / "a", symlinks=True)
    moved = open_stored(tmp_path / "a")
    assert all((moved.folder / name).is_symlink() for name in moved.by_point)
    assert isinstance(job_of(sql, {"a": moved}, spark), PointsJob)
    assert told(sql, {"a": moved}, spark, POINTS) == told(sql, tables, spark, 1)


def test_a_job_of_many_points_has_tasks_for_each(
    spark: SparkSession, tables: dict[str, Stored]
) -> None:
    job = job_of(FITS["a join and a group"], tables, spark)
    assert isinstance(job, PointsJob)
    rows = job.rows()
    count = tables["a"].clusters.count
    assert job.frame.rdd.getNumPartitions() == POINTS * count
    assert set(rows["hw_from"].to_pylist()) == set(range(POINTS))


def test_one_value_of_a_single_key_is_looked_for_where_its_hash_says(
    spark: SparkSession, tables: dict[str, Stored]
) -> None:
    one = tables["a"]
    paths = tuple(str(one.folder / name) for name in one.by_point)
    twice = of_points(one.clusters, POINTS)
    alone = type(twice)(one.clusters.by, twice.count)
    found = {}
    for clusters in (alone, twice):
        view = open_files(spark, FileSet(paths, columns_of(one), clusters))
        found[clusters] = [
            spark.sql(f"SELECT k, sum(v) AS s FROM {view} WHERE k = {key} GROUP BY k").count()
            for key in range(-30, 60)
        ]
    keys = {n % 90 - 30 for n in range(800) if n % 10}
    there = [int(key in keys) for key in range(-30, 60)]
    assert found[twice] == there
    assert sum(found[alone]) < sum(there)

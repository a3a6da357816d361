"""Annotated tables lie apart by their key: joins by it need no shuffle, and are right."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headway.early.chunks import Chunk
from headway.early.sampling import Sampling
from headway.engine.early import opening, storage
from headway.engine.early.ask import ask, progress
from headway.engine.early.evaluate import SqlPlan
from headway.engine.early.opening import PLAIN, Clusters, _opened, keep_open
from headway.engine.early.storage import Stored, open_stored, view_upto
from headway.errors import QueryError
from headway.measure.costs.lanes import Lanes

pytestmark = pytest.mark.spark
VALUES = {
    "date": "DATE_ADD(DATE '1970-01-01', CAST(id AS INT) - 50)",
    "boolean": "id % 2 = 0",
    "string": "CONCAT('käse', id)",
}


def keyed(spark: SparkSession, rows: int, kind: str = "bigint") -> DataFrame:
    """Rows whose key is negative, positive or null."""
    value = VALUES.get(kind, f"CAST(id - 50 AS {kind})")
    return spark.range(rows).selectExpr(f"IF(id % 10 = 0, NULL, {value}) AS k", "id AS v")


def plan_of(
    sql: str, tables: dict[str, Stored], spark: SparkSession, chunk: Chunk | None = None
) -> str:
    """What Spark does for a chunk of answers, or all of them."""
    asking = ask(sql, tables, spark=spark)
    assert isinstance(asking.plan, SqlPlan)
    frame = asking.plan.job(chunk or Chunk(0, asking.points - 1)).frame
    return str(frame._jdf.queryExecution().executedPlan().toString())


@pytest.mark.parametrize("kind", PLAIN)
def test_rows_lie_where_spark_would_shuffle_them(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    stored = progress(keyed(spark, 100, kind), by="k", points=3, folder=tmp_path / "t")
    assert stored.clusters == Clusters(("k",), stored.clusters.count)
    assert stored.clusters.count > 1
    frame = spark.read.parquet(
        *(str(tmp_path / "t" / one) for some in stored.files for one in some)
    )
    placed = frame.select("*", F.regexp_extract(F.input_file_name(), r"_(\d+)\.", 1).alias("file"))
    shuffled = placed.repartition(stored.clusters.count, "k")
    wrong = shuffled.where(F.col("file").cast("int") != F.spark_partition_id())
    assert (wrong.count(), placed.count()) == (0, 100)


def test_later_chunks_are_the_same_query(spark: SparkSession, tmp_path: Path) -> None:
    stored = progress(keyed(spark, 400), by="k", points=4, folder=tmp_path / "t")
    asking = ask("SELECT k, sum(v) AS s FROM t GROUP BY k", {"t": stored}, spark=spark)
    assert isinstance(asking.plan, SqlPlan)
    assert asking.plan.forgets
    codes = []
    for point in (1, 3):
        executed = asking.plan.job(Chunk(point, point)).frame._jdf.queryExecution()
        shown = executed.debug().codegenToSeq()
        codes.append([shown.apply(n)._2() for n in range(shown.length())])
    assert codes[0]
    assert codes[0] == codes[1]


@pytest.mark.parametrize("kind", PLAIN)
def test_files_of_one_point_are_sorted_by_the_key(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    stored = progress(keyed(spark, 100, kind), by="k", points=3, folder=tmp_path / "t")
    for name in (one for some in stored.files for one in some):
        held = spark.read.parquet(str(tmp_path / "t" / name)).coalesce(1)
        assert [row.k for row in held.collect()] == [row.k for row in held.orderBy("k").collect()]


def test_a_point_by_itself_is_joined_as_it_lies(spark: SparkSession, tmp_path: Path) -> None:
    tables = {
        name: progress(keyed(spark, 400), by="k", points=4, folder=tmp_path / name)
        for name in ("a", "b")
    }
    sql = "SELECT a.k, sum(a.v * b.v) AS s FROM a, b WHERE a.k = b.k GROUP BY a.k"
    one, two = plan_of(sql, tables, spark, Chunk(2, 2)), plan_of(sql, tables, spark, Chunk(1, 2))
    assert "SortMergeJoin" in one
    assert "SortMergeJoin" in two
    assert ("Exchange" in one, "Exchange" in two) == (False, False)
    assert " Sort [" not in one + two
    in_ones = list(ask(sql, tables, chunk=1, spark=spark))
    found = {row["k"]: row["s"] for row in in_ones[-1].table.to_pylist()}
    assert found == {n - 50: n * n for n in range(400) if n % 10}


LESS = {
    "as it stands": ("SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY n", True),
    "ties told apart": ("SELECT v, k, w FROM t ORDER BY w LIMIT 3", True),
    "ties of all columns": ("SELECT * FROM t ORDER BY w LIMIT 3", False),
    "any three": ("SELECT * FROM t LIMIT 3", False),
    "names that are no names": ("SELECT v + 1, k FROM t ORDER BY w LIMIT 3", False),
    "a cut of several": ("SELECT v FROM t UNION ALL SELECT k FROM t LIMIT 3", False),
    "a cut below": ("SELECT count(*) AS n FROM (SELECT w FROM t LIMIT 3) WHERE w = 1", False),
    "the rest": ("SELECT v FROM t OFFSET 3", False),
    "sets of groups, none": ("SELECT count(*) AS n FROM t WHERE v > 999 GROUP BY ROLLUP(k)", False),
    "twice the same": ("SELECT v, v FROM t", True),
    "a comment": ("SELECT v FROM t -- of all", True),
    "a table of its own": ("WITH u AS (SELECT max(v) AS m FROM t) SELECT m FROM u", True),
    "sums of floats": ("SELECT k, sum(CAST(v AS DOUBLE)) AS s FROM t GROUP BY k", False),
    "ordered by what is not shown": ("SELECT v FROM t ORDER BY k", False),
    "values within values": ("SELECT k, array(1, 2) AS a FROM t", False),
    "ties of a window": ("SELECT v, ROW_NUMBER() OVER (ORDER BY k) AS n FROM t", False),
}


@pytest.mark.parametrize("case", LESS)
def test_the_first_point_is_asked_as_the_user_asks_where_that_is_the_same(
    spark: SparkSession, tmp_path: Path, case: str
) -> None:
    sql, as_asked = LESS[case]
    rows = keyed(spark, 100).selectExpr("*", "v % 3 AS w")
    leaving = Sampling("key", ("k",), 6, stay=3)
    for name, by in (("stay", "k"), ("leave", leaving)):
        stored = progress(rows, by=by, points=6, folder=tmp_path / name)
        for points in (6, 3):
            asking = ask(sql, {"t": stored}, points=points, spark=spark)
            assert isinstance(asking.plan, SqlPlan)
            assert asking.plan.as_asked == as_asked
            told = [answer.fingerprint for answer in asking]
            assert told[0] == next(iter(asking)).fingerprint  # and again
            by_rules = ask(sql, {"t": stored}, points=points, chunk=points, spark=spark)
            assert told == [answer.fingerprint for answer in by_rules]


def test_a_key_that_is_joined_and_grouped_by_is_not_shuffled(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = {
        name: progress(keyed(spark, rows), by="k", points=4, folder=tmp_path / name)
        for name, rows in (("a", 500), ("b", 300))
    }
    sql = "SELECT a.k, sum(a.v * b.v) AS s FROM a, b WHERE a.k = b.k GROUP BY a.k"
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        assert "Exchange" not in plan_of(sql, tables, spark)
        assert "Exchange" in plan_of(sql.replace("a.k = b.k", "a.v = b.v"), tables, spark)
        *_, last = ask(sql, tables, spark=spark)
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    # No row 50 tens: their keys are null.
    found = {row["k"]: row["s"] for row in last.table.to_pylist()}
    assert found == {n - 50: n * n for n in range(300) if n % 10}


def test_keys_of_two_types_and_of_two_machines_still_meet(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = progress(keyed(spark, 100, "int"), by="k", points=4, folder=tmp_path / "few")
    monkeypatch.setattr(storage, "lanes_of", lambda _: Lanes(3, 3))
    many = progress(keyed(spark, 100), by="k", points=4, folder=tmp_path / "many")
    assert (few.clusters.count, many.clusters.count) == (2, 3)
    sql = "SELECT count(*) AS n, sum(a.v) AS s FROM a JOIN b ON a.k = b.k"
    answers = list(ask(sql, {"a": few, "b": many}, spark=spark))
    wanted = {"n": 90, "s": sum(n for n in range(100) if n % 10)}
    assert answers[-1].table.to_pylist() == [wanted]


def test_a_small_table_that_is_there_from_the_start_is_held_in_memory(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_start = Sampling("start", points=1)
    frame = spark.range(6).selectExpr(
        "id AS k", "CAST(id / 2 AS DECIMAL(5,1)) AS v", "CAST(NULL AS INT) AS n",
        "TIMESTAMP_SECONDS(id) AS t", "named_struct('ab', array(id)) AS deep",
    )  # fmt: skip
    small = progress(frame, from_start, folder=tmp_path / "small")
    long = progress(spark.range(1_001), from_start, folder=tmp_path / "long")
    many = progress(keyed(spark, 60), by="k", points=3, folder=tmp_path / "many")
    asked_in = SparkSession.getActiveSession()
    sql = "SELECT count(*) AS n, sum(small.v) AS s FROM many JOIN small ON many.k = small.k"
    assert "LocalTableScan" in plan_of(sql, {"many": many, "small": small}, spark, Chunk(0, 0))
    *_, last = ask(sql, {"many": many, "small": small}, spark=spark)
    assert last.table.to_pylist() == [{"n": 5, "s": Decimal("7.5")}]  # no row 50: its key is null
    (whole,) = ask("SELECT * FROM small ORDER BY k", {"small": small}, spark=spark)
    assert SparkSession.getActiveSession() is asked_in
    assert whole.table.to_pylist() == frame.orderBy("k").toArrow().to_pylist()
    for name, sampled in (("long", long), ("many", many)):
        one = f"SELECT count(*) AS n FROM {name}"
        assert "LocalTableScan" not in plan_of(one, {name: sampled}, spark, Chunk(0, 0))
    monkeypatch.setattr(opening, "HELD_BYTES", 10)
    monkeypatch.setattr(opening, "_opened", OrderedDict())
    files = ask("SELECT * FROM small ORDER BY k", {"small": small}, spark=spark)
    assert "LocalTableScan" not in plan_of("SELECT sum(v) AS s FROM small", {"small": small}, spark)
    assert [answer.fingerprint for answer in files] == [whole.fingerprint]


def test_what_a_last_chunk_would_keep_is_not_kept(spark: SparkSession, tmp_path: Path) -> None:
    stored = progress(keyed(spark, 400), by="k", points=4, folder=tmp_path / "t")
    sql = "SELECT v % 3 AS m, sum(v) AS s FROM t GROUP BY v % 3"
    assert "ExistingRDD" in plan_of(sql, {"t": stored}, spark, Chunk(1, 2))
    assert "ExistingRDD" not in plan_of(sql, {"t": stored}, spark, Chunk(1, 3))
    asking = ask(sql, {"t": stored}, chunk=1, spark=spark)
    assert isinstance(asking.plan, SqlPlan)
    assert asking.plan.slices
    *_, last = asking  # what earlier chunks have kept is merged in the last one, too
    assert {row["m"]: row["s"] for row in last.table.to_pylist()} == {
        m: sum(range(m, 400, 3)) for m in range(3)
    }


def test_what_has_no_hash_of_its_own_lies_anywhere(spark: SparkSession, tmp_path: Path) -> None:
    doubles = progress(keyed(spark, 50, "double"), by="k", points=2, folder=tmp_path / "doubles")
    whole = progress(keyed(spark, 50), points=2, folder=tmp_path / "whole")
    assert doubles.clusters == whole.clusters == Clusters()
    assert spark.table(view_upto(spark, doubles, 1)).count() == 50


def test_files_stay_open_for_the_next_question_but_not_for_ever(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = progress(keyed(spark, 50), by="k", points=2, folder=tmp_path / "t")
    again = open_stored(tmp_path / "t")
    assert again.clusters == stored.clusters
    view = view_upto(spark, again, 1)
    assert sum(row["v"] for row in spark.table(view).collect()) == sum(range(50))
    assert view_upto(spark.newSession(), stored, 1) == view
    monkeypatch.setattr(opening, "OPEN", 2)
    others = [view_upto(spark, stored, last, last) for last in range(2)]
    assert list(_opened.values()) == others
    assert spark.catalog.tableExists(others[0])
    assert not spark.catalog.tableExists(view)
    assert spark.table(view_upto(spark, stored, 1)).count() == 50


def test_who_opens_the_same_files_at_the_same_time_gets_the_same_view(
    spark: SparkSession, tmp_path: Path
) -> None:
    stored = progress(keyed(spark, 50), by="k", points=2, folder=tmp_path / "t")
    first = view_upto(spark, stored, 0)
    key = next(key for key, view in _opened.items() if view == first)
    spark.range(3).createGlobalTempView("hwrows_late")
    late = first.rpartition(".")[0] + ".`hwrows_late`"
    assert spark.catalog.tableExists(late)
    assert keep_open(spark, key, late) == first
    assert not spark.catalog.tableExists(late)
    assert spark.catalog.tableExists(first)


def test_keys_from_two_tables_in_a_union_are_one_group(spark: SparkSession, tmp_path: Path) -> None:
    tables = {
        name: progress(keyed(spark, 60), by="k", points=3, folder=tmp_path / name)
        for name in ("a", "b")
    }
    sql = "SELECT k, count(*) AS n FROM (SELECT * FROM a UNION ALL SELECT * FROM b) GROUP BY k"
    *_, last = ask(sql, tables, spark=spark)
    found = {row["k"]: row["n"] for row in last.table.to_pylist()}
    assert found == {**{n - 50: 2 for n in range(60) if n % 10}, None: 12}


def test_names_that_sql_must_quote_and_names_that_hide_each_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.range(20).selectExpr("id AS k", "named_struct('first name', id) AS `the-rest`")
    stored = progress(frame, by="k", points=2, folder=tmp_path / "t")
    hiding = "WITH t AS (SELECT * FROM t WHERE k > 9) SELECT count(*) AS n FROM t"
    *_, last = ask(hiding, {"t": stored}, spark=spark)
    assert last.table.to_pylist() == [{"n": 10}]
    *_, all_of_it = ask("SELECT k, `the-rest` AS r FROM t WHERE k = 7", {"t": stored}, spark=spark)
    assert all_of_it.table.to_pylist() == [{"k": 7, "r": {"first name": 7}}]
    with pytest.raises(QueryError, match="choose another"):
        ask("SELECT count(*) FROM hw_t", {"hw_t": stored}, spark=spark)


def test_a_function_of_the_users_takes_no_name_of_sparks(spark: SparkSession) -> None:
    beside = spark.newSession()
    beside.udf.register("hash", lambda key: 7, "int")
    (row,) = beside.sql("SELECT hash(1L) AS found").collect()
    assert row["found"] == -1712319331  # as shuffles have it: files are named by it

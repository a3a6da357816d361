"""Ties are one fact: however rows lie and points are taken together, the same row is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headway.engine.early.ask import ask, progress
from headway.engine.early.proving.exactness import check_points
from headway.engine.early.storage import Stored
from headway.errors import QueryError

pytestmark = pytest.mark.spark
POINTS = 3
CUTS = {
    "of several": "SELECT w FROM t LATERAL VIEW explode(xs) e AS x UNION ALL SELECT v FROM t "
    "LIMIT 7",
    "of all columns": "SELECT * FROM t LATERAL VIEW explode(xs) e AS x LIMIT 7",
    "of all columns and more": "SELECT *, v % 2 AS m FROM t LATERAL VIEW explode(xs) e AS x "
    "ORDER BY w LIMIT 7",
    "below": "SELECT sum(v) AS s, sum(x) AS x FROM "
    "(SELECT * FROM t LATERAL VIEW explode(xs) e AS x ORDER BY w LIMIT 7)",
}
EXTREMES = {
    "of groups": "SELECT w, max_by(n, y) AS most, min_by(n, y) AS least FROM t GROUP BY w",
    "without names": "SELECT y, max_by(n, w), min_by(n, y) FROM t GROUP BY y",
    "over windows": "SELECT k, max_by(n, y) OVER (PARTITION BY w) AS most FROM t",
    "without a rule": "SELECT x, max_by(n, w) AS most, min_by(v, y) AS least FROM t "
    "LATERAL VIEW explode(xs) e AS x GROUP BY x",
    "several of them": "SELECT w, max_by(n, y, 3) AS most FROM t GROUP BY w",
    "under a condition": "SELECT max_by(n, w) FILTER (WHERE v > 7) AS most FROM t",
}


@pytest.fixture(scope="module")
def laid_out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    """The same table from rows that came in one order and in another, from one task and more."""
    folder = tmp_path_factory.mktemp("ties")
    rows = spark.range(90).selectExpr(
        "id AS k", "id % 45 AS v", "id % 3 AS w", "array(id % 4, id % 5) AS xs",
        "IF(id % 7 = 0, NULL, id % 2) AS y", "concat('n', id) AS n",
    )  # fmt: skip
    ways: list[DataFrame] = [
        rows.coalesce(1).sortWithinPartitions("k"),
        rows.coalesce(1).sortWithinPartitions(rows.k.desc()),
        rows.repartition(5, "n"),
    ]
    return [progress(frame, points=POINTS, folder=folder / str(n)) for n, frame in enumerate(ways)]


def told_each_way(sql: str, laid_out: list[Stored], spark: SparkSession) -> list[list[str]]:
    """The fingerprints of all answers, for each way in which rows lie and each chunking."""
    return [
        [answer.fingerprint for answer in ask(sql, {"t": stored}, chunk=chunk, spark=spark)]
        for stored in laid_out
        for chunk in (1, POINTS)
    ]


@pytest.mark.parametrize("case", CUTS)
def test_a_cut_leaves_the_same_rows_however_they_lie(
    case: str, laid_out: list[Stored], spark: SparkSession
) -> None:
    sql = CUTS[case]
    told = told_each_way(sql, laid_out, spark)
    assert all(one == told[0] for one in told)
    assert list(check_points(ask(sql, {"t": laid_out[-1]}, spark=spark), sql)) == []


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT *, map(k, v) AS m FROM t LATERAL VIEW explode(xs) e AS x LIMIT 7", "map_entries"),
        ("SELECT v FROM t SORT BY v LIMIT 7", "write ORDER BY"),
    ],
)
def test_a_cut_that_no_order_tells_is_refused_when_it_is_asked(
    sql: str, why: str, laid_out: list[Stored], spark: SparkSession
) -> None:
    with pytest.raises(QueryError, match=why):
        ask(sql, {"t": laid_out[0]}, spark=spark)


@pytest.mark.parametrize("case", EXTREMES)
def test_an_extreme_is_of_the_same_row_however_they_lie(
    case: str, laid_out: list[Stored], spark: SparkSession
) -> None:
    sql = EXTREMES[case]
    told = told_each_way(sql, laid_out, spark)
    assert all(one == told[0] for one in told)
    asking = ask(sql, {"t": laid_out[-1]}, spark=spark)
    assert asking.schema.names == spark_names(sql, spark)
    assert list(check_points(asking, sql)) == []


def spark_names(sql: str, spark: SparkSession) -> list[str]:
    """What Spark calls the columns of a question about such a table."""
    rows = "SELECT 0 AS k, 0 AS v, 0 AS w, array(0) AS xs, 0 AS y, '' AS n"
    return spark.sql(f"WITH t AS ({rows}) {sql}").columns


def test_an_extreme_is_that_of_spark_where_there_are_no_ties(
    laid_out: list[Stored], spark: SparkSession
) -> None:
    sql = "SELECT w, max_by(y, k) AS most, min_by(n, IF(k < 9, NULL, k)) AS least FROM t GROUP BY w"
    *_, last = ask(sql, {"t": laid_out[0]}, spark=spark)
    found = {row["w"]: (row["most"], row["least"]) for row in last.table.to_pylist()}
    assert found == {0: (1, "n9"), 1: (0, "n10"), 2: (1, "n11")}


def test_a_row_of_an_extreme_is_replayed_as_it_was(
    laid_out: list[Stored], spark: SparkSession
) -> None:
    sql = "SELECT w, max_by(n, y) FROM t GROUP BY w"
    *_, last = ask(sql, {"t": laid_out[1]}, spark=spark)
    row = last.table.to_pylist()[0]
    assert last.why(w=row["w"]).replayed.to_pylist() == [row]


def test_an_extreme_whose_value_has_no_order_is_refused_when_it_is_asked(
    laid_out: list[Stored], spark: SparkSession
) -> None:
    with pytest.raises(QueryError, match="map_entries"):
        ask("SELECT max_by(map(k, v), w) AS m FROM t", {"t": laid_out[0]}, spark=spark)


@pytest.mark.parametrize("chunk", [1, 3])
def test_rows_of_a_query_without_a_rule_keep_their_order(
    spark: SparkSession, tmp_path: Path, chunk: int
) -> None:
    rows = spark.range(60).selectExpr("id AS k", "id % 7 AS v", "ARRAY(1, 2) AS xs")
    stored = progress(rows, by="k", points=3, folder=tmp_path / "t")
    question = "SELECT k, x FROM t LATERAL VIEW explode(xs) e AS x ORDER BY v DESC, x"
    asking = ask(question, {"t": stored}, chunk=chunk, spark=spark)
    assert asking.explained.rule == "recompute"
    for answer, entered in zip(
        asking, (sum(stored.entering[: n + 1]) for n in range(3)), strict=True
    ):
        found = [(row["k"], row["x"]) for row in answer.table.to_pylist()]
        assert len(found) == 2 * entered
        assert found == sorted(found, key=lambda row: (-(row[0] % 7), row[1], row[0]))


def test_rows_that_show_what_has_no_order_are_still_answered(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.range(6).selectExpr("id AS k", "ARRAY(1) AS xs")
    stored = progress(rows, by="k", points=2, folder=tmp_path / "t")
    question = "SELECT k, MAP(k, x) AS m FROM t LATERAL VIEW explode(xs) e AS x ORDER BY k DESC"
    last = list(ask(question, {"t": stored}, spark=spark))[-1]
    assert sorted(last.table["k"].to_pylist()) == list(range(6))


def test_a_cut_of_maps_is_refused_before_the_first_answer(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.range(6).selectExpr("id AS k")
    stored = progress(rows, by="k", points=2, folder=tmp_path / "t")
    with pytest.raises(QueryError, match="map_entries"):
        ask("SELECT k, MAP(k, 1) AS m FROM t LIMIT 3", {"t": stored}, spark=spark)

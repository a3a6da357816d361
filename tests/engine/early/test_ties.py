"""Ties are one fact: however rows lie and points are taken together, the same row is chosen."""

from __future__ import annotations

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
    return [
        progress(frame, by="k", points=POINTS, folder=folder / str(n))
        for n, frame in enumerate(ways)
    ]


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

"""Strings that equal the same number are keys of their own, and enter at points of their own."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from headway.early.progress import FROM
from headway.early.read.query import tables_in
from headway.early.sampling import Sampling
from headway.engine.early.ask import ask, progress
from headway.engine.early.proving.exactness import check_points
from headway.engine.early.storage import Stored

pytestmark = pytest.mark.spark
POINTS = 4
NUMBERS = 12
ASKED = {
    "groups": "SELECT j, count(*) AS n, percentile(v, 0.5) AS middle FROM t WHERE k = j GROUP BY j",
    "windows": "SELECT k, rank() OVER (PARTITION BY j ORDER BY v) AS place FROM t WHERE k = j",
    "what is there": "SELECT count(*) AS n FROM people WHERE EXISTS "
    "(SELECT 1 FROM t WHERE t.k = people.id)",
    "what is not there": "SELECT id FROM people WHERE NOT EXISTS "
    "(SELECT 1 FROM t WHERE t.k = people.id AND v % 2 = 0)",
    "a chain": "SELECT count(*) AS n FROM t AS a, numbers AS d, t AS b "
    "WHERE a.k = d.j AND d.j = b.k",
    "values of each": "SELECT id FROM people WHERE id < "
    "(SELECT count(*) * 4 FROM t WHERE t.k = people.id)",
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stored]:
    place = tmp_path_factory.mktemp("unlike")
    numbers = spark.range(NUMBERS)
    spelt = numbers.selectExpr(
        "EXPLODE(ARRAY(STRING(id), CONCAT('0', id), CONCAT('00', id))) AS k", "INT(id) AS j"
    ).selectExpr("k", "j", "INT(j + LENGTH(k)) AS v")
    start = Sampling("start", points=1)
    return {
        "t": progress(spelt, by="k", points=POINTS, folder=place / "t"),
        "people": progress(numbers, by="id", points=POINTS, folder=place / "people"),
        "numbers": progress(numbers.selectExpr("id AS j"), by=start, folder=place / "numbers"),
    }


def test_what_equals_the_same_number_enters_at_unlike_points(
    spark: SparkSession, tables: dict[str, Stored]
) -> None:
    rows = spark.table(tables["t"].view(spark, "t", POINTS - 1)).collect()
    points = [{row[FROM] for row in rows if row["j"] == number} for number in range(NUMBERS)]
    assert all(points)
    assert any(len(one) > 1 for one in points)


@pytest.mark.parametrize("case", ASKED)
def test_columns_of_unlike_types_that_are_equal_are_no_common_key(
    spark: SparkSession, tables: dict[str, Stored], case: str
) -> None:
    sql = ASKED[case]
    asking = ask(sql, {name: tables[name] for name in tables_in(sql)}, spark=spark)
    assert list(check_points(asking, sql)) == []

"""max_by and min_by: how they are said so that no two rows tie, and what is left as it is."""

from __future__ import annotations

import pytest

from headway.early.read.total import stands_as_it_is, totally_ordered

SAID = {
    "max_by(x, y)": "MAX_BY(x, IF(y IS NULL, NULL, STRUCT(y, x)))",
    "min_by(x, y)": "MIN_BY(x, IF(y IS NULL, NULL, STRUCT(y, x)))",
    "max_by(x + 1, -y)": "MAX_BY(x + 1, IF((-y) IS NULL, NULL, STRUCT(-y, x + 1)))",
    "max_by(x, y) OVER (PARTITION BY g)": "MAX_BY(x, IF(y IS NULL, NULL, STRUCT(y, x))) "
    "OVER (PARTITION BY g)",
    "max_by(DISTINCT x, y) FILTER (WHERE g)": "MAX_BY(x, IF(y IS NULL, NULL, STRUCT(y, x))) "
    "FILTER(WHERE g)",
    "max_by(x, y, 3)": "MAX_BY(x, IF(y IS NULL, NULL, STRUCT(y, x)), 3)",
    "max_by(x, struct(y, x), 3)": "MAX_BY(x, STRUCT(y AS y, x AS x), 3)",
}
AS_IT_IS = ["max_by(x, x)", "min_by(x, struct(y, x))", "max_by(1, y)", "max(x)"]


@pytest.mark.parametrize("call", SAID)
def test_among_equals_of_the_order_the_value_decides(call: str) -> None:
    sql = totally_ordered(f"SELECT {call} AS m FROM t")
    assert sql == f"SELECT {SAID[call]} AS m FROM t"


@pytest.mark.parametrize("call", AS_IT_IS)
def test_what_has_no_ties_is_left_as_it_is(call: str) -> None:
    sql = f"select {call} from t"
    assert totally_ordered(sql) == sql
    assert stands_as_it_is(sql)


def test_an_extreme_within_a_query_and_a_cut_is_said_so_too() -> None:
    sql = "SELECT m FROM (SELECT max_by(x, min_by(a, b) OVER ()) AS m FROM t LIMIT 1) LIMIT 2"
    inner = "MIN_BY(a, IF(b IS NULL, NULL, STRUCT(b, a))) OVER ()"
    assert totally_ordered(sql) == (
        f"SELECT m FROM (SELECT MAX_BY(x, IF(({inner}) IS NULL, NULL, STRUCT({inner}, x))) AS m "
        "FROM t ORDER BY m LIMIT 1) ORDER BY m LIMIT 2"
    )


def test_a_column_that_spark_names_by_how_it_is_said_is_not_asked_for_so() -> None:
    assert stands_as_it_is("SELECT max_by(x, y) + 1 AS m FROM t")
    assert not stands_as_it_is("SELECT max_by(x, y) + 1 FROM t")

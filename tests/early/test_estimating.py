"""Estimates of totals: right at the end, as wide as slices are unlike, and as sure as they say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.early.estimating import (
    Totals,
    estimate,
    totals_in,
    unfit_to_estimate,
    warnings_of,
)
from headway.early.lower import lower_query
from headway.early.read.query import read_query
from headway.early.relation import Known
from headway.early.rules.types import flat_types
from tests.early.tables import TYPES, sampled, types_of


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_at_the_last_point_the_estimate_is_the_answer(slices: list[float]) -> None:
    values = [sum(slices[: n + 1]) for n in range(len(slices))]
    shares = [(n + 1) / len(slices) for n in range(len(slices))]
    found = estimate(values, shares)
    assert found.low == found.value == found.high == values[-1]


def test_one_slice_tells_nothing_of_how_far_it_is_off() -> None:
    found = estimate([7.0], [0.1])
    assert (found.low, found.value, found.high) == (None, pytest.approx(70.0), None)


def test_intervals_hold_the_total_about_as_often_as_they_say() -> None:
    chance, held, tries = random.Random(7), 0, 400
    for _ in range(tries):
        slices = [sum(chance.expovariate(1.0) for _ in range(50)) for _ in range(20)]
        values = [sum(slices[: n + 1]) for n in range(6)]
        found = estimate(values, [(n + 1) / 20 for n in range(6)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= sum(slices) <= found.high
    assert 0.91 <= held / tries <= 0.985


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT k, count(*) AS n, avg(v) AS m FROM t GROUP BY k",
         Totals((0,), (1,), frozenset({1}))),
        ("SELECT sum(v) AS s FROM t", Totals((), (0,))),
        ("SELECT n, count(*) AS c FROM (SELECT k, count(*) AS n FROM t GROUP BY k) GROUP BY n",
         Totals((0,), (1,))),
        ("SELECT sum(v) AS s, k FROM t GROUP BY k ORDER BY s LIMIT 3", Totals((1,), (0,))),
        ("SELECT sum(v) AS s FROM t GROUP BY k", None),
        ("SELECT k, sum(v) AS s FROM t GROUP BY k HAVING sum(v) > 1", None),
        ("SELECT k, count(DISTINCT v) AS s FROM t GROUP BY k", None),
        ("SELECT k, v FROM t", None),
    ],
    ids=["count", "no key", "count of what shrinks", "top", "key not shown", "having", "distinct",
         "no group"],
)  # fmt: skip
def test_counts_and_sums_of_groups_that_are_named_can_be_scaled_up(
    sql: str, found: Totals | None
) -> None:
    assert totals_in(read_query(sql, TYPES)) == found


@pytest.mark.parametrize(
    ("by", "warned"), [("t=k u=k", False), ("t=k u=row", True), ("t=k", False)]
)
def test_a_join_of_sides_that_do_not_enter_together_is_warned_of(by: str, warned: bool) -> None:
    query = read_query("SELECT t.k, count(*) AS n FROM t JOIN u ON t.k = u.k GROUP BY t.k", TYPES)
    columns = flat_types(query.node, TYPES)
    relation = lower_query(query, Known(sampled(by), types_of, columns=columns))
    assert any("few" in line or "biased" in line for line in warnings_of(relation.step)) == warned


def test_rows_beside_one_value_lose_no_pairs_but_are_not_scaled_up() -> None:
    query = read_query("SELECT count(*) AS n FROM t WHERE v > (SELECT avg(v) FROM t)", TYPES)
    relation = lower_query(query, Known(sampled("t=row"), types_of))
    assert warnings_of(relation.step) == []
    assert "still moves" in unfit_to_estimate(relation.step)
    still = read_query("SELECT count(*) AS n FROM u WHERE w > (SELECT avg(v) FROM t)", TYPES)
    found = lower_query(still, Known(sampled("t=row"), types_of))
    assert "still moves" in unfit_to_estimate(found.step)
    many = read_query(
        "SELECT count(*) AS n FROM u JOIN (SELECT explode(array_sort(collect_list(k))) AS k FROM t)"
        " AS s ON u.k = s.k",
        TYPES,
    )
    assert warnings_of(lower_query(many, Known(sampled("t=row u=row"), types_of)).step)
    plain = read_query("SELECT count(*) AS n FROM t", TYPES)
    assert unfit_to_estimate(lower_query(plain, Known(sampled("t=row"), types_of)).step) == ""

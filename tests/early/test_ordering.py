"""Rows in an order that is one fact, be it told by the first key alone or by all."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pytest

from headway.early.ordering import by_all, by_first, sort_indices, sorted_rows

CHANCE = random.Random(7)
LONG = 5_000  # rows, more than are looked at first


def rows_of(first: list[Any]) -> pa.Table:
    return pa.table({"a": first, "b": [CHANCE.random() for _ in first]})


def shuffled(values: list[Any]) -> list[Any]:
    return CHANCE.sample(values, len(values))


@pytest.mark.parametrize(
    "first",
    [
        shuffled(list(range(LONG))),
        shuffled([date(2020, 1, 1) + timedelta(n) for n in range(LONG)]),
        [*range(LONG // 2, LONG), *range(LONG // 2)],
        [0],
    ],
    ids=["numbers", "dates", "runs", "one"],
)
def test_where_no_two_rows_have_the_same_the_first_key_alone_tells(first: list[Any]) -> None:
    rows = rows_of(first)
    assert by_first(rows, (0, False, True)) is not None
    assert sorted_rows(rows)["a"].to_pylist() == sorted(first)
    down = sort_indices(rows, [(0, True, True), *by_all(2)])
    assert rows["a"].take(down).to_pylist() == sorted(first, reverse=True)


ALIKE = [[*range(LONG), LONG - 1], [1] * 10, [1, None, 2], [None, None, 1, 1]]  # the first: late


@pytest.mark.parametrize("first", ALIKE, ids=["two alike", "all alike", "null", "nulls"])
def test_where_some_rows_have_the_same_all_keys_are_compared(first: list[int | None]) -> None:
    rows = rows_of(first)
    assert by_first(rows, (0, False, True)) is None
    found = list(zip(*(column.to_pylist() for column in sorted_rows(rows).columns), strict=True))
    both = zip(*(column.to_pylist() for column in rows.columns), strict=True)
    assert found == sorted(both, key=lambda row: (row[0] is not None, row[0] or 0, row[1]))


@pytest.mark.parametrize("first", [[True, False], ["b", "a"], [0.0, -0.0]])
def test_what_numpy_may_order_otherwise_is_left_to_arrow(first: list[Any]) -> None:
    assert by_first(rows_of(first), (0, False, True)) is None


def test_no_rows_have_an_order() -> None:
    assert sorted_rows(pa.table({"a": pa.array([], pa.int64()), "b": []})).num_rows == 0

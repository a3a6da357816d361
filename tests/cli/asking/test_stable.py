"""How far an answer moved: by its numbers, and by rows that came or went."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.asking.rows import key_columns
from headway.cli.asking.stable import movement, parse_share, relative_change
from headway.cli.outcome import UsedWrongly

SCHEMA = pa.schema([("name", pa.string()), ("n", pa.int64()), ("x", pa.float64())])
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "c", "d"]),
        st.none() | st.integers(-5, 5),
        st.none() | st.floats(),
    ),
    max_size=8,
)


def answer(*rows: tuple[object, ...]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA)


def test_the_largest_change_of_any_number_counts() -> None:
    before = answer(("a", 100, 1.0), ("b", 10, 2.0))
    after = answer(("b", 10, 2.5), ("a", 101, 1.0))
    assert movement(before, after) == pytest.approx(0.2)


def test_rows_that_come_and_go_count_as_a_share_of_all_rows() -> None:
    before = answer(("a", 1, 1.0), ("b", 1, 1.0), ("c", 1, 1.0))
    after = answer(("b", 1, 1.0), ("c", 1, 1.0), ("d", 1, 1.0))
    assert movement(before, after) == 0.5
    assert movement(answer(), before) == 1.0
    assert movement(answer(), answer()) == 0.0


def test_rows_that_are_alike_are_told_apart_by_the_whole_number_that_stays() -> None:
    # The counts differ from point to point, the years do not: rows are about years.
    before = pa.table({"n": [10, 20, 30], "year": [1995, 1996, 1997]})
    after = pa.table({"n": [11, 20, 33], "year": [1995, 1996, 1997]})
    assert key_columns(before, after) == (1,)
    assert movement(before, after) == pytest.approx(1 - 10 / 11)


def test_one_row_of_numbers_needs_no_key() -> None:
    assert movement(pa.table({"n": [4]}), pa.table({"n": [5]})) == 0.2
    assert movement(pa.table({"n": [Decimal("4.0")]}), pa.table({"n": [Decimal("5.0")]})) == 0.2


def test_what_is_no_number_is_no_small_change() -> None:
    nan, inf = float("nan"), float("inf")
    assert relative_change(None, 3) == relative_change(inf, 3) == relative_change(nan, 3) == 1.0
    assert relative_change(nan, nan) == relative_change(inf, inf) == 0.0
    assert relative_change(1.5e308, -1.5e308) == 2.0


@given(ROWS)
def test_an_answer_that_is_the_same_has_not_moved(rows: list[tuple[object, ...]]) -> None:
    assert movement(answer(*rows), answer(*rows)) == 0.0


@given(ROWS, ROWS)
def test_movement_is_the_same_in_both_directions(
    some: list[tuple[object, ...]], others: list[tuple[object, ...]]
) -> None:
    moved = movement(answer(*some), answer(*others))
    assert 0.0 <= moved <= 2.0
    assert moved == movement(answer(*others), answer(*some))


@pytest.mark.parametrize("text", ["0", "-1%", "much", "nan", "inf", "%"])
def test_a_share_is_above_nothing(text: str) -> None:
    with pytest.raises(UsedWrongly, match="such as 1%"):
        parse_share(text, "--until-stable")

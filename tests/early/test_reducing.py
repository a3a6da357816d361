"""Reducers without Spark: called when the tuples of a key change, with what holds then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.early.chunks import Chunk
from headway.early.contracts import AT_START, MOVING, Contract
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.reducing import Batch, Reducer, contract_of, reduced
from headway.errors import QueryError, RunError

SHAPE = pa.schema([("n", pa.int64()), ("total", pa.int64())])
KEY = {"user": 7}
CHUNK = Chunk(2, 6)


def rows(values: Iterable[tuple[int, int, int]]) -> pa.Table:
    """Tuples with a value and both ends of their intervals."""
    found = list(values)
    columns = [[one[n] for one in found] for n in range(3)]
    kinds = (pa.int64(), pa.int32(), pa.int32())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=["v", FROM, UNTIL])


def counted(key: dict[str, Any], tables: dict[str, pa.Table]) -> pa.Table:
    assert key == KEY
    values = [v for table in tables.values() for v in table["v"].to_pylist()]
    return pa.table({"total": [sum(values)], "n": [len(values)]})


def counted_along(key: dict[str, Any], batches: Iterator[Batch]) -> Iterator[pa.Table]:
    """The same, by a function that sees progress: it adds what enters and takes off what leaves."""
    moves: dict[int, list[tuple[int, int]]] = {}
    for batch in batches:
        for table in batch.tables.values():
            for v, start, end in zip(
                *(table[c].to_pylist() for c in table.column_names), strict=True
            ):
                moves.setdefault(start, []).append((1, v))
                moves.setdefault(end, []).append((-1, -v))
    turns, n, total = sorted(moves), 0, 0
    for point, until in zip(turns, [*turns[1:], FOREVER], strict=True):
        n += sum(one for one, _ in moves[point])
        total += sum(v for _, v in moves[point])
        if n and point != FOREVER:
            yield pa.table({"n": [n], "total": [total], FROM: [point], UNTIL: [until]})


TUPLES = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(2, 6), st.integers(1, 4)).map(
        lambda one: (one[0], one[1], one[1] + one[2] if one[2] < 4 else FOREVER)
    ),
    min_size=1,
)


def at(found: pa.Table, point: int) -> list[tuple[int, int]]:
    return [
        (row["n"], row["total"]) for row in found.to_pylist() if row[FROM] <= point < row[UNTIL]
    ]


@given(TUPLES, TUPLES)
def test_at_every_point_it_has_seen_the_tuples_that_hold_there(
    left: list[tuple[int, int, int]], right: list[tuple[int, int, int]]
) -> None:
    tables = {"left": rows(left), "right": rows(right)}
    plain = reduced(Reducer(counted, ("user",), ""), KEY, tables, CHUNK, SHAPE)
    aware = reduced(Reducer(counted_along, ("user",), "", True), KEY, tables, CHUNK, SHAPE)
    for point in CHUNK.points:
        held = [v for v, start, end in [*left, *right] if start <= point < end]
        wanted = [(len(held), sum(held))] if held else []
        assert at(plain, point) == wanted
        assert at(aware, point) == wanted


def test_it_is_called_only_when_the_tuples_of_its_key_change() -> None:
    called: list[int] = []

    def count(key: dict[str, Any], tables: dict[str, pa.Table]) -> pa.Table:
        called.append(tables["t"].num_rows)
        return pa.table({"n": [tables["t"].num_rows], "total": [0]})

    table = rows([(1, 0, FOREVER), (2, 2, FOREVER), (3, 5, FOREVER)])
    found = reduced(Reducer(count, ("user",), ""), KEY, {"t": table}, CHUNK, SHAPE)
    assert called == [2, 3]
    assert found[FROM].to_pylist() == [2, 5]
    assert found[UNTIL].to_pylist() == [5, FOREVER]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pa.table({"n": [1]}), "gave the columns n; it declares n, total"),
        (pa.table({"n": ["x"], "total": [1]}), "is not what it declares"),
        ([1], "gave a list; a reducer gives an Arrow table"),
    ],
    ids=["columns", "types", "kind"],
)
def test_what_it_did_not_declare_is_refused(given: Any, said: str) -> None:
    with pytest.raises(RunError, match=said):
        reduced(
            Reducer(lambda key, tables: given, ("user",), ""), KEY, {"t": rows([(1, 2, 3)])},
            CHUNK, SHAPE,
        )  # fmt: skip


def test_without_a_function_there_is_no_reducer() -> None:
    with pytest.raises(QueryError, match="needs a function"):
        Reducer("SELECT 1", ("user",), "")  # type: ignore[arg-type]


BY_USER = Contract(False, True, frozenset({("user",)}), "seed 0")
OTHERS = Contract(False, True, frozenset({("user",)}), "seed 1")


@pytest.mark.parametrize(
    ("inputs", "found"),
    [
        ([BY_USER], BY_USER),
        ([BY_USER, BY_USER], BY_USER),
        ([BY_USER, OTHERS], MOVING),
        ([BY_USER, AT_START], MOVING),
        ([AT_START, AT_START], AT_START),
        ([Contract(False, False, BY_USER.keys, BY_USER.function)], MOVING),
    ],
)
def test_a_key_is_complete_where_all_inputs_enter_by_the_same_function_of_it(
    inputs: list[Contract], found: Contract
) -> None:
    assert contract_of(["User", "ad"], inputs) == found
    assert contract_of(["ad"], inputs) == (found if found == AT_START else MOVING)

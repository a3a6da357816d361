"""Rows of Arrow in an order that is one fact: by the keys that are asked for, then by all else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SOME = 1_000  # rows that are looked at before all of them are
PLAIN = (pa.types.is_integer, pa.types.is_date, pa.types.is_timestamp)  # in whose order numpy sorts

# A column's place, whether it descends, and whether nulls come first.
Key = tuple[int, bool, bool]


def sort_indices(rows: pa.Table, keys: Sequence[Key]) -> pa.Array:
    """Where each row goes."""
    if len(keys) > 1 and (alone := by_first(rows, keys[0])) is not None:
        return alone
    columns: dict[str, Any] = {}
    sort_keys: list[tuple[str, str]] = []
    for n, (place, descending, nulls_first) in enumerate(keys):
        column = sortable(rows.column(place))
        if column.null_count:
            columns[f"n{n}"] = pc.cast(pc.is_null(column), pa.int8())
            sort_keys.append((f"n{n}", "descending" if nulls_first else "ascending"))
        columns[f"v{n}"] = column
        sort_keys.append((f"v{n}", "descending" if descending else "ascending"))
    if not sort_keys or not rows.num_rows:
        return pa.array(range(rows.num_rows), pa.int64())
    return pc.sort_indices(pa.table(columns), sort_keys=sort_keys)


def by_first(rows: pa.Table, key: Key) -> pa.Array | None:
    """Where each row goes if the first key alone tells, no two rows having the same.

    That is less work than to compare all columns, and little where rows come in sorted runs. Some
    that lie apart are looked at first: where two of them have the same, many others will.
    """
    place, descending, _ = key
    column = rows.column(place)
    if column.null_count or not any(is_plain(column.type) for is_plain in PLAIN):
        return None
    values = column.to_numpy()
    some = values[:: max(1, len(values) // SOME)]
    if len(np.unique(some)) < len(some):
        return None
    found = np.argsort(values, kind="stable")
    ordered = values[found]
    if (ordered[1:] == ordered[:-1]).any():
        return None
    return pa.array(found[::-1] if descending else found)


def by_all(width: int) -> list[Key]:
    """The order by all columns from the first to the last."""
    return [(n, False, True) for n in range(width)]


def sorted_rows(rows: pa.Table) -> pa.Table:
    """The rows in the order of all their columns, however they came.

    >>> sorted_rows(pa.table({"a": [2, None, 1]}))["a"].to_pylist()
    [None, 1, 2]
    """
    return rows.take(sort_indices(rows, by_all(rows.num_columns)))


def sortable(column: Any) -> Any:
    """A column as it can be sorted; what holds several values is sorted by its text."""
    if pa.types.is_nested(column.type):
        return pa.array([None if v is None else repr(v) for v in column.to_pylist()], pa.string())
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.int8())
    if pa.types.is_boolean(column.type):
        return pc.cast(column, pa.int8())
    return column

"""Which row of one answer is which row of another, told by the columns that rows are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import pyarrow as pa

Key = tuple[Any, ...]


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type can be nearer to or farther from each other."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def key_columns(before: pa.Table, after: pa.Table) -> tuple[int, ...]:
    """The places of the columns that tell rows apart in two answers to one question.

    These are all columns that are no numbers. Where rows are still alike, whole numbers such as a
    year or an order's key help: first the one by which most rows are found in both answers.
    """
    kinds = [field.type for field in after.schema]
    keys = [n for n, kind in enumerate(kinds) if not is_number(kind)]
    whole = [n for n, kind in enumerate(kinds) if pa.types.is_integer(kind)]
    while whole and not (told_apart(before, keys) and told_apart(after, keys)):
        best = max(whole, key=lambda n: common(before, after, [*keys, n]))
        whole.remove(best)
        keys.append(best)
    return tuple(sorted(keys))


def told_apart(table: pa.Table, keys: Sequence[int]) -> bool:
    found = plain_keys(table, keys)
    return len(set(found)) == len(found)


def common(before: pa.Table, after: pa.Table, keys: Sequence[int]) -> int:
    return len(set(plain_keys(before, keys)) & set(plain_keys(after, keys)))


def plain_keys(table: pa.Table, keys: Sequence[int]) -> list[Key]:
    """The values of some columns, row by row."""
    if not keys:
        return list(repeat((), table.num_rows))
    return list(zip(*(hashable(table.column(n)) for n in keys), strict=True))


def hashable(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return [repr(value) for value in values] if pa.types.is_nested(column.type) else values


def row_keys(table: pa.Table, keys: Sequence[int]) -> list[Key]:
    """One key for each row, no two alike: rows with equal columns are counted off.

    >>> row_keys(pa.table({"a": ["x", "y", "x"]}), [0])
    [('x', 0), ('y', 0), ('x', 1)]
    """
    seen: Counter[Key] = Counter()
    found: list[Key] = []
    for key in plain_keys(table, keys):
        found.append((*key, seen[key]))
        seen[key] += 1
    return found

"""What the page of a question draws: the top rows of its last answer, followed back."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import pyarrow as pa

from headway.cli.asking.cells import exact_text
from headway.cli.asking.follow import Followed, Seen, ending_text
from headway.cli.asking.rows import Key, is_number, key_columns, row_keys
from headway.dashboard.early.asked import AnsweredPoint, Asked, Curve

MOST_CURVES = 8


def asked_of(sql: str, followed: Followed, rules: str, most_rows: int) -> Asked:
    """A question that was followed, as its page shows it."""
    seen, last = followed.seen, followed.last.table
    measure, curves = curves_of(seen)
    shown = (column.to_pylist()[:most_rows] for column in last.columns)
    return Asked(
        sql=sql,
        ending=ending_text(followed),
        points=followed.last.points,
        answered=tuple(AnsweredPoint(s.point, s.progress, s.at_s, s.table.num_rows) for s in seen),
        measure=measure,
        curves=curves,
        columns=tuple(last.column_names),
        rows=tuple(tuple(exact_text(v) for v in row) for row in zip(*shown, strict=True)),
        rules=rules,
    )


def curves_of(seen: Sequence[Seen]) -> tuple[str, tuple[Curve, ...]]:
    """The first column of numbers that rows are not told apart by, for each of the top rows."""
    last = seen[-1].table
    begun = next((one.table for one in seen if one.table.num_rows), last)
    keys = key_columns(begun, last)
    numbers = [n for n, field in enumerate(last.schema) if is_number(field.type) and n not in keys]
    if not numbers:
        return "", ()
    measure = numbers[0]
    name = last.column_names[measure]
    wanted = row_keys(last, keys)[:MOST_CURVES]
    found = [values_of(one.table, keys, measure, wanted) for one in seen]
    return name, tuple(
        Curve(row_name(key) or name, tuple(values[n] for values in found))
        for n, key in enumerate(wanted)
    )


def values_of(
    table: pa.Table, keys: Sequence[int], measure: int, wanted: Sequence[Key]
) -> list[float | None]:
    """The measure of each wanted row; None where the row is not there."""
    places = {key: n for n, key in enumerate(row_keys(table, keys))}
    column = table.column(measure)
    return [drawn(column[places[key]].as_py()) if key in places else None for key in wanted]


def drawn(value: Any) -> float | None:
    return float(value) if value is not None and isfinite(value) else None


def row_name(key: Key) -> str:
    """A row by the columns that tell it apart; rows that are alike are numbered.

    >>> row_name(("A", "F", 0)), row_name(("A", 1))
    ('A F', 'A (2)')
    """
    *values, again = key
    said = " ".join(exact_text(value) for value in values)
    return f"{said} ({again + 1})" if again else said

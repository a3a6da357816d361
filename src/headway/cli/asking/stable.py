"""How far an answer moved from one point to the next, for `--until-stable`."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite, isnan

import pyarrow as pa

from headway.cli.asking.rows import key_columns, row_keys
from headway.cli.outcome import UsedWrongly

Number = int | float | Decimal


def movement(before: pa.Table, after: pa.Table) -> float:
    """How far an answer moved: 0 when it is the same, up to 2 when a number changed its sign.

    It is the largest relative change of any number, or the share of rows that are in one of the
    two answers only, whichever is more. It is the same in both directions.

    >>> before = pa.table({"a": ["x", "y"], "n": [10, 4]})
    >>> movement(before, pa.table({"a": ["x", "y"], "n": [8, 4]}))
    0.2
    """
    keys = key_columns(before, after)
    old = {key: n for n, key in enumerate(row_keys(before, keys))}
    new = {key: n for n, key in enumerate(row_keys(after, keys))}
    every, both = old.keys() | new.keys(), old.keys() & new.keys()
    if not every:
        return 0.0
    moved = [1 - len(both) / len(every)]
    for place in range(after.num_columns):
        if place not in keys:
            was, is_now = before.column(place).to_pylist(), after.column(place).to_pylist()
            moved += [relative_change(was[old[key]], is_now[new[key]]) for key in both]
    return max(moved)


def relative_change(old: Number | None, new: Number | None) -> float:
    """How far a number moved, as a share of the larger one; 1 where there was or is none.

    >>> relative_change(4, 5), relative_change(0, 3), relative_change(2, -2)
    (0.2, 1.0, 2.0)
    """
    if old == new:
        return 0.0
    if old is None or new is None:
        return 1.0
    a, b = float(old), float(new)
    if isnan(a) and isnan(b):
        return 0.0
    if not (isfinite(a) and isfinite(b)):
        return 1.0
    larger = max(abs(a), abs(b))
    return abs(a - b) / larger if isfinite(a - b) else abs(a / larger - b / larger)


def parse_share(text: str, option: str) -> float:
    """A share as people write it after an option.

    >>> parse_share("1%", "--first"), parse_share("0.05", "--first")
    (0.01, 0.05)
    """
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = float("nan")
    share = number / 100 if text.strip().endswith("%") else number
    if not 0 < share < float("inf"):
        raise UsedWrongly(f"{option} is a share above 0, such as 1% or 0.01; got {text!r}")
    return share

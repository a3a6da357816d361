"""Which of two values is the smaller, and which are the same: Spark's order of its types."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any


def rank(value: Any) -> Any:
    """A stand-in for a value that sorts as Spark does: null first, NaN above every number.

    >>> sorted([math.nan, 2.0, None, -1.0], key=rank)
    [None, -1.0, 2.0, nan]
    """
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    if isinstance(value, list | tuple):
        return (1, [rank(item) for item in value])
    if isinstance(value, dict):
        return (1, [rank(item) for item in value.values()])
    return (1, value)


def identity(value: Any) -> Hashable:
    """A stand-in for a value that is equal exactly where Spark would put both in one group."""
    if isinstance(value, float):
        if math.isnan(value):
            return ("NaN",)
        return value + 0.0  # -0.0 and 0.0 are one key
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list | tuple):
        return tuple(identity(item) for item in value)
    if isinstance(value, dict):
        return tuple((name, identity(item)) for name, item in value.items())
    return value  # type: ignore[no-any-return]

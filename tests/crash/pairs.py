"""A pair with a fault in it."""

from __future__ import annotations

from typing import Any, ClassVar

import headway as hw
from headway.flow.pairs import Emitted


class Fragile(hw.Pair):
    """Adds up the values of each key, and raises on negative ones."""

    emits: ClassVar[str] = "total bigint"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Emitted:
        """The record's value under its key."""
        yield time, value["key"], value["value"]

    def init(self, key: str) -> int:
        """Nothing was added."""
        return 0

    def update(self, time: float, key: str, value: int, state: int) -> tuple[int, Emitted]:
        """Add the value, which must not be negative."""
        if value < 0:
            raise ValueError(f"{value} is negative")
        return state + value, [(time, key, state + value)]

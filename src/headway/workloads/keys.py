"""Running counts of keys: the smallest stateful flow there is, for measuring throughput."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headway.flow.pairs import Emitted, Pair
from headway.flow.stream import Stream


def key_counts(records: Stream) -> Stream:
    """How often each key was seen so far (`key`, `n`), told for each batch in which it occurs."""
    return records.key("key").reduce(n="count(*)")


def key_counts_pair(records: Stream) -> Stream:
    """How often each key was seen so far, told for each record, by the Python pair `KeyCounts`."""
    return records.pair(KeyCounts())


@dataclass(frozen=True)
class KeyCounts(Pair):
    """Tells a key's new count for each of its records."""

    emits: ClassVar[str] = "n bigint"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Emitted:
        """The record's key; its value does not matter."""
        yield time, value["key"], 1

    def init(self, key: str) -> int:
        """A new key was never counted."""
        return 0

    def update(self, time: float, key: str, value: int, state: int) -> tuple[int, Emitted]:
        """Count the record and tell the count."""
        return state + value, [(time, key, state + value)]

    def merge(self, left: int, right: int) -> int:
        """The count over both parts."""
        return left + right

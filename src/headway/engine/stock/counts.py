"""A running count of each key in Python, by each of the three interfaces that PySpark has for it.

All three tell a key's new count for each of its records, as a pair of headway's does. Each is
written for speed: nothing is done per record that can be done per key, and nothing but the key is
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

ANSWERS = "key string, n bigint"
STATE = "n bigint"


def tell(key: str, before: int, now: int) -> pd.DataFrame:
    """The counts that a key went through."""
    return pd.DataFrame({"key": key, "n": np.arange(before + 1, now + 1)})


def apply_in_pandas(keyed: DataFrame) -> DataFrame:
    """By `applyInPandasWithState`."""

    def count(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        before = state.get[0] if state.exists else 0
        now = before + sum(len(frame) for frame in frames)
        state.update((now,))
        yield tell(key[0], before, now)

    return keyed.groupBy("key").applyInPandasWithState(
        count, ANSWERS, STATE, "append", GroupStateTimeout.NoTimeout
    )


class Counting(StatefulProcessor):
    """Holds the count of a key in a value state."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state."""
        self.held = handle.getValueState("n", STATE)

    def close(self) -> None:
        """Nothing to close."""

    def before(self) -> int:
        """The count of the key at hand so far; one call to the state store, not two."""
        found = self.held.get()
        return int(found[0]) if found is not None else 0


class CountingFrames(Counting):
    """Counts the rows of pandas frames."""

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Count one key's rows of a batch."""
        before = self.before()
        now = before + sum(len(frame) for frame in rows)
        self.held.update((now,))
        yield tell(key[0], before, now)


class CountingRows(Counting):
    """Counts rows one by one."""

    def handleInputRows(
        self, key: Any, rows: Iterator[Row], timerValues: TimerValues
    ) -> Iterator[Row]:
        """Count one key's rows of a batch."""
        before = self.before()
        now = before + sum(1 for _ in rows)
        self.held.update((now,))
        for n in range(before + 1, now + 1):
            yield Row(key=key[0], n=n)


def transform_in_pandas(keyed: DataFrame) -> DataFrame:
    """By `transformWithStateInPandas`."""
    return keyed.groupBy("key").transformWithStateInPandas(
        CountingFrames(), ANSWERS, "append", "none"
    )


def transform_rows(keyed: DataFrame) -> DataFrame:
    """By `transformWithState`."""
    return keyed.groupBy("key").transformWithState(CountingRows(), ANSWERS, "append", "none")


INTERFACES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "applyInPandasWithState": apply_in_pandas,
    "transformWithStateInPandas": transform_in_pandas,
    "transformWithState": transform_rows,
}
NEED_PROTOBUF = ("transformWithStateInPandas", "transformWithState")


def missing() -> dict[str, str]:
    """The interfaces that cannot run in this environment, each with the reason."""
    try:
        found = find_spec("google.protobuf") is not None
    except ModuleNotFoundError:
        found = False
    return {} if found else dict.fromkeys(NEED_PROTOBUF, "the package protobuf is not installed")

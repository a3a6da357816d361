"""Pairs of map and reduce written in Python: the low-level interface of paper 1, section 2.1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from headway.errors import FlowError
from headway.flow.columns.schema import Column, Schema, spark_type

Emitted = Iterable[tuple[float, Any, Any]]  # time in seconds, key, value


class BasePair:
    """What both forms of a pair share: a map, and a declaration of what comes out.

    An answer has the columns `time`, `key`, and those that `emits` declares. Where `emits` declares
    one column a value is that column; where it declares several, a tuple or dict of them.
    """

    key: ClassVar[str] = "string"
    emits: ClassVar[str] = "value string"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Emitted:
        """Turn one record into any number of (time, key, value); by default the record itself."""
        yield time, key, value

    @property
    def name(self) -> str:
        """The pair's name in plans, errors and checkpoints."""
        return type(self).__qualname__

    @property
    def signature(self) -> str:
        """Name and parameters: two pairs with the same signature compute the same."""
        given = [f"{name}={stable_repr(value)}" for name, value in sorted(vars(self).items())]
        for text in given:
            if " at 0x" in text:
                raise FlowError(
                    f"{self.name} has the parameter {text}, whose text changes from start to "
                    "start, so a checkpoint could not be known again; give its class a __repr__"
                )
        return f"{self.name}({', '.join(given)})"

    def output(self) -> Schema:
        """The columns of the pair's answers."""
        values = Schema.parse(self.emits)
        for name in values.names:
            if name in ("time", "key"):
                raise FlowError(
                    f"{self.name}.emits declares {name!r}, which every answer has; rename it"
                )
        fixed = (Column("time", "timestamp"), Column("key", spark_type(self.key)))
        return Schema(fixed + values.columns)


def stable_repr(value: Any) -> str:
    """A parameter as text that is the same in every process: sets in order."""
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(repr, value))) + "}"
    return repr(value)


class Pair(BasePair):
    """Incremental updates: `update` sees each record of a key in order and may emit at once."""

    def init(self, key: Any) -> Any:
        """The state of a key that was never seen."""
        return None

    def update(self, time: float, key: Any, value: Any, state: Any) -> tuple[Any, Emitted]:
        """Take one record into the state; return the new state and what to emit now."""
        raise NotImplementedError(f"{self.name} needs an update method")

    def merge(self, left: Any, right: Any) -> Any:
        """Join the states of two parts of a key's records; equal to one update over both parts."""
        raise NotImplementedError(f"{self.name} has no merge method")


class WindowPair(BasePair):
    """Time windows: one state for each key and window, completed by `finalize` when it closes.

    `wtime` is the window's end in seconds.
    """

    def init(self, key: Any, wtime: float) -> Any:
        """The state of a window in which the key was not seen before."""
        return None

    def update(self, time: float, key: Any, wtime: float, value: Any, state: Any) -> Any:
        """Take one record into the window's state and return it."""
        raise NotImplementedError(f"{self.name} needs an update method")

    def merge(self, left: Any, right: Any) -> Any:
        """Join the states of two parts of a window's records."""
        raise NotImplementedError(f"{self.name} has no merge method")

    def finalize(self, key: Any, wtime: float, state: Any) -> Emitted:
        """What to emit for a window that has closed."""
        raise NotImplementedError(f"{self.name} needs a finalize method")

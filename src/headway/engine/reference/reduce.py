"""SQL aggregates of each key: kept up to date after each batch, or answered as windows close."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway.engine.reference.records import Piece
from headway.engine.reference.sql.aggregates import Aggregation, compile_aggregation
from headway.engine.reference.sql.folds import Fold
from headway.engine.reference.sql.moments import moment
from headway.engine.reference.sql.order import identity
from headway.engine.reference.sql.types import TIMESTAMP, Type
from headway.flow.steps import Reduce
from headway.flow.windows import Window


@dataclass(frozen=True, slots=True)
class Group:
    """One key (of one window) with the state of each aggregate."""

    key: dict[str, Any]
    end_us: int | None
    states: list[list[Fold]]


class Reducer:
    """The memory of one Reduce step."""

    def __init__(self, step: Reduce, columns: Mapping[str, Type]) -> None:
        self.step = step
        self.made: dict[str, Aggregation] = {
            str(e.name): compile_aggregation(e.text, columns, step.key) for e in step.aggregates
        }
        fixed = {"window_start": TIMESTAMP, "window_end": TIMESTAMP} if step.window else {}
        keys = {name: columns[name] for name in step.key}
        self.columns = {**fixed, **keys, **{name: a.type for name, a in self.made.items()}}
        self.groups: dict[Hashable, Group] = {}

    def take(self, pieces: Sequence[Piece], watermark_ms: float) -> list[Piece]:
        """Take a batch in and return its answers."""
        window = self.step.window
        if window is None:
            touched = {self.update(piece, None): None for piece in pieces}
            return [self.answer(self.groups[place]) for place in touched]
        for piece in pieces:
            for end_us in window.ends_of(piece.time_us):
                if end_us > watermark_ms * 1_000:
                    self.update(piece, end_us)
        return self.close(watermark_ms)

    def update(self, piece: Piece, end_us: int | None) -> Hashable:
        """Take a record into its group and return the group's place."""
        key = {name: piece.row[name] for name in self.step.key}
        place = (end_us, *(identity(value) for value in key.values()))
        group = self.groups.get(place)
        if group is None:
            group = Group(key, end_us, [a.fresh() for a in self.made.values()])
            self.groups[place] = group
        for aggregation, state in zip(self.made.values(), group.states, strict=True):
            aggregation.feed(state, piece.row)
        return place

    def close(self, watermark_ms: float) -> list[Piece]:
        """Answer and forget the windows that the watermark has passed."""
        closed = [
            place
            for place, group in self.groups.items()
            if group.end_us is not None and group.end_us <= watermark_ms * 1_000
        ]
        return [self.answer(self.groups.pop(place)) for place in closed]

    def answer(self, group: Group) -> Piece:
        """The row of one group as it stands."""
        row = {**window_columns(self.step.window, group.end_us), **group.key}
        for (name, aggregation), state in zip(self.made.items(), group.states, strict=True):
            row[name] = aggregation.result(state, group.key)
        return Piece(group.end_us or 0, (0, 0), row)


def window_columns(window: Window | None, end_us: int | None) -> dict[str, Any]:
    """The columns that say which window an answer is for."""
    if window is None or end_us is None:
        return {}
    return {"window_start": moment(end_us - window.size_us), "window_end": moment(end_us)}

"""Python pairs: map each record, update the state of its key, answer now or as windows close."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from headway.engine.reference.records import Piece, Reason, SetAside
from headway.engine.reference.sql.moments import moment
from headway.engine.reference.sql.order import identity
from headway.engine.reference.sql.types import parse_type
from headway.errors import FlowError, PairError
from headway.flow.columns.schema import Schema, arrow_type, exact_array
from headway.flow.pairs import Pair, WindowPair
from headway.flow.steps import PairStep
from headway.flow.windows import Window

Made = TypeVar("Made")
Mapped = tuple[float, Any, Any]  # time in seconds, key, value
Held = tuple[Any, int | None, Any]  # key, end of window, state


@dataclass(frozen=True, slots=True)
class Failed:
    """What a pair was doing when it raised."""

    method: str
    key: Any
    record: Any


class PairRunner:
    """The memory of one PairStep: a state for each key, or for each key and window."""

    def __init__(self, step: PairStep) -> None:
        self.step, self.pair = step, step.pair
        self.output = step.pair.output()
        self.columns = {column.name: parse_type(column.type) for column in self.output}
        self.states: dict[Hashable, Held] = {}
        self.aside: list[SetAside] = []

    def take(self, pieces: Sequence[Piece], watermark_ms: float) -> list[Piece]:
        """Take a batch in, in the order of arrival, and return its answers."""
        answers: list[Piece] = []
        for piece in sorted(pieces, key=lambda piece: piece.order):
            for mapped in self.map(piece):
                answers += self.update(mapped, watermark_ms)
        return answers + self.close(watermark_ms)

    def map(self, piece: Piece) -> Sequence[Mapped]:
        """What the pair's map makes of a record, all of it before any is used."""
        key = key_of(piece.row, self.step.key)
        made = self.guard(
            Failed("map", key, piece.row),
            lambda: list(self.pair.map(piece.time_us / 1e6, key, dict(piece.row))),
        )
        return made or ()

    def update(self, mapped: Mapped, watermark_ms: float) -> list[Piece]:
        """Take a mapped record into the state of its key, or of each open window."""
        if isinstance(self.pair, Pair):
            return self.update_key(self.pair, mapped)
        ends = window_of(self.step).ends_of(round(mapped[0] * 1e6))
        open_ends = [end_us for end_us in ends if end_us > watermark_ms * 1_000]
        self.update_windows(windowed(self.step), mapped, open_ends)
        return []

    def update_key(self, pair: Pair, mapped: Mapped) -> list[Piece]:
        """One incremental update; what it emits are answers."""
        time_s, key, value = mapped
        place = identity(key)

        def call() -> tuple[Any, list[Piece]]:
            before = self.kept(place)
            state = before[2] if before else pair.init(key)
            after, emitted = pair.update(time_s, key, value, state)
            return after, rows_of(emitted, self.output)

        made = self.guard(Failed("update", key, value), call)
        if made is None:
            return []
        self.states[place] = (key, None, made[0])
        return made[1]

    def update_windows(self, pair: WindowPair, mapped: Mapped, ends: Sequence[int]) -> None:
        """One record into all of its open windows, or into none if one of them fails."""
        time_s, key, value = mapped

        def call() -> dict[Hashable, Held]:
            made: dict[Hashable, Held] = {}
            for end_us in ends:
                place = (end_us, identity(key))
                before = self.kept(place)
                state = before[2] if before else pair.init(key, end_us / 1e6)
                after = pair.update(time_s, key, end_us / 1e6, value, state)
                made[place] = (key, end_us, after)
            return made

        self.states |= self.guard(Failed("update", key, value), call) or {}

    def kept(self, place: Hashable) -> Held | None:
        """A state that an update may change; the one before stays if the update may fail."""
        before = self.states.get(place)
        return copy.deepcopy(before) if self.step.on_error == "quarantine" else before

    def close(self, watermark_ms: float) -> list[Piece]:
        """Finalize and forget the windows that the watermark has passed."""
        closed = [
            place
            for place, (_, end_us, _) in self.states.items()
            if end_us is not None and end_us <= watermark_ms * 1_000
        ]
        return [answer for place in closed for answer in self.finalize(place)]

    def finalize(self, place: Hashable) -> list[Piece]:
        """The answers of one window."""
        key, end_us, state = self.states.pop(place)
        pair = windowed(self.step)
        made = self.guard(
            Failed("finalize", key, state),
            lambda: rows_of(pair.finalize(key, (end_us or 0) / 1e6, state), self.output),
        )
        return made or []

    def guard(self, doing: Failed, call: Callable[[], Made]) -> Made | None:
        """What a call of the user's code gives; None when it raised and was to be survived."""
        try:
            return call()
        except Exception as error:
            trace = "".join(traceback.format_exception(error))
            name = self.pair.name
            if self.step.on_error == "stop":
                key, record = repr(doing.key), repr(doing.record)
                raise PairError(name, doing.method, key, record, trace) from error
            detail = f"{name}.{doing.method} raised {error!r}"
            why: Reason = "unfinished" if doing.method == "finalize" else "failed"
            self.aside.append(SetAside(self.step.name, why, doing.key, doing.record, detail))
            return None

    def drain_aside(self) -> list[SetAside]:
        """The records set aside since this was last asked."""
        aside, self.aside = self.aside, []
        return aside


def window_of(step: PairStep) -> Window:
    """The window of a step that has one."""
    if step.window is None:
        raise FlowError(f"{step.pair.name} is a WindowPair; its step needs a window")
    return step.window


def windowed(step: PairStep) -> WindowPair:
    """The pair of a step that is on windows."""
    if not isinstance(step.pair, WindowPair):
        raise FlowError(f"{step.pair.name} is neither a Pair nor a WindowPair; derive it from one")
    return step.pair


def key_of(row: dict[str, Any], names: Sequence[str]) -> Any:
    """The key that a pair's map is given."""
    values = tuple(row[name] for name in names)
    return values[0] if len(values) == 1 else values or None


def rows_of(emitted: Iterable[Mapped] | None, output: Schema) -> list[Piece]:
    """What a pair emitted, as answers with the columns and types it declared."""
    rows = []
    for time_s, key, value in emitted or ():
        names = output.names[2:]
        values = values_of(value, names)
        time_us = round(time_s * 1e6)
        row = {"time": moment(time_us), "key": typed(key, output.type_of("key"))}
        for name, item in zip(names, values, strict=True):
            row[name] = typed(item, output.type_of(name))
        rows.append(Piece(time_us, (0, 0), row))
    return rows


def values_of(value: Any, names: Sequence[str]) -> Sequence[Any]:
    """The declared columns of one emitted value."""
    if len(names) == 1:
        return [value]
    if isinstance(value, dict):
        return [value[name] for name in names]
    if not isinstance(value, tuple | list) or len(value) != len(names):
        raise TypeError(f"a value must hold the columns {', '.join(names)}; got {value!r}")
    return value


def typed(value: Any, kind: str) -> Any:
    """A value as its declared column delivers it, refused where it does not fit."""
    return exact_array([value], arrow_type(kind)).to_pylist()[0]

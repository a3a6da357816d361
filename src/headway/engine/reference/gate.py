"""The way in: each record's time, the watermark, and the records that come too late."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa

from headway.engine.reference.records import Arrived, Batch, Piece, SetAside
from headway.engine.reference.sql.casts import to_float
from headway.engine.reference.sql.moments import micros_of
from headway.engine.reference.sql.types import Type, parse_type
from headway.flow.columns.schema import Schema
from headway.flow.graph import Flow
from headway.flow.steps import PairStep, Reduce, Source
from headway.flow.topics import EventTime
from headway.flow.windows import Window
from headway.units import MICROS_IN


def time_of(arrived: Arrived, time: EventTime | None) -> int | None:
    """A record's time in microseconds: its arrival, or its event time, which may be missing.

    >>> time_of(Arrived(7, 0, {"at": 1.25}), EventTime("at", "ms"))
    1250
    """
    if time is None:
        return arrived.arrival_us
    value = arrived.record.get(time.column)
    if value is None:
        return None
    if isinstance(value, datetime):
        return micros_of(in_utc(value))
    if isinstance(value, float):
        return math.floor(value * MICROS_IN[time.unit] + 0.5) if math.isfinite(value) else None
    return int(value) * MICROS_IN[time.unit]


def in_utc(value: datetime) -> datetime:
    """A timestamp with its zone; one that names none is meant as UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def conform(value: Any, kind: Type) -> Any:
    """A value as its column's type holds it: whole numbers in a double column are doubles."""
    if value is None:
        return None
    if kind.kind == "double":
        return float(value)
    if kind.kind == "float":
        return to_float(value)
    if kind.kind == "timestamp" and isinstance(value, datetime):
        return in_utc(value)
    if kind.kind == "date" and isinstance(value, datetime):
        return date(value.year, value.month, value.day)
    if kind.kind == "array":
        return [conform(item, kind.inner[0]) for item in value]
    return value


def windows_below(flow: Flow, source: Source) -> tuple[Window, ...]:
    """The windows that the records of a source reach."""
    return tuple(
        step.window
        for step in flow.steps
        if isinstance(step, Reduce | PairStep)
        and step.window is not None
        and source.name in {above.name for above in flow.above(step.name)}
    )


class Gate:
    """Admits the records of one source and remembers how far their times have come."""

    def __init__(self, source: Source, schema: Schema, windows: Sequence[Window]) -> None:
        self.source, self.windows = source, windows
        self.kinds = {column.name: parse_type(column.type) for column in schema}
        self.lateness_ms = max((w.lateness_us // 1_000 for w in windows), default=0)
        self.reached_ms: int | None = None

    def admit(
        self, records: Iterable[Arrived], watermark_ms: float
    ) -> tuple[list[Piece], list[SetAside]]:
        """The records that are in time, and those that are not."""
        pieces, aside = [], []
        for arrived in records:
            time_us = time_of(arrived, self.source.time)
            if time_us is None:
                detail = "its event time is missing"
                aside.append(SetAside(self.source.name, "unreadable", None, arrived.record, detail))
            elif self.late(time_us, watermark_ms):
                detail = f"its last window had closed at watermark {watermark_ms} ms"
                aside.append(SetAside(self.source.name, "late", None, arrived.record, detail))
            else:
                pieces.append(self.piece(arrived, time_us))
        self.advance(pieces)
        return pieces, aside

    def late(self, time_us: int, watermark_ms: float) -> bool:
        """Whether every window that could hold a time has closed."""
        return bool(self.windows) and all(
            window.last_end(time_us) <= watermark_ms * 1_000 for window in self.windows
        )

    def piece(self, arrived: Arrived, time_us: int) -> Piece:
        """A record with its columns as the schema declares them."""
        record = arrived.record
        row = {name: conform(record.get(name), kind) for name, kind in self.kinds.items()}
        return Piece(time_us, (arrived.arrival_us, arrived.seq), row)

    def advance(self, pieces: Iterable[Piece]) -> None:
        """Remember the furthest time; windows close before it by the lateness allowed."""
        for piece in pieces:
            # A window ends with its last microsecond, so only a later time can close it.
            reached = (piece.time_us - 1) // 1_000 - self.lateness_ms
            self.reached_ms = reached if self.reached_ms is None else max(self.reached_ms, reached)


def next_watermark(now_ms: float, gates: Iterable[Gate]) -> float:
    """The watermark of the next batch: as far as the slowest source has come, never back."""
    return max(now_ms, min(gate.reached_ms or 0 for gate in gates))


def schema_of(source: Source, batches: Iterable[Batch]) -> Schema:
    """The columns of a source, taken from its records where none were declared."""
    if source.schema is not None:
        return source.schema
    records = [a.record for batch in batches for a in batch.admitted.get(source.name, ())]
    return Schema.from_arrow(pa.Table.from_pylist(records).schema)

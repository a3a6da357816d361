"""From the records of a topic to the rows that enter Spark: timed, checked for lateness, marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headway.engine.spark.gate.columns import (
    AGES,
    ARRIVAL,
    CLOSED,
    NO_RECORD,
    SEQ,
    TICK,
    TIME,
    seq_of,
)
from headway.engine.spark.gate.offsets import Decision
from headway.engine.topics.port import BadRecord, OpenTopic, Records, Slice
from headway.engine.topics.quarantine import Quarantined, note, set_aside
from headway.flow.columns.schema import Schema
from headway.flow.steps import Source
from headway.flow.topics import EventTime
from headway.flow.windows import END_OF_TIME_US, Window
from headway.measure.latency import Ages, AgesTally

UTC_MICROS = pa.timestamp("us", tz="UTC")
AGES_DDL = "struct<sum: double, squares: double, sketch: binary, blank: bigint>"
AGES_ARROW = pa.struct(
    [
        ("sum", pa.float64()),
        ("squares", pa.float64()),
        ("sketch", pa.binary()),
        ("blank", pa.int64()),
    ]
)
MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1}


@dataclass(frozen=True, slots=True)
class Shape:
    """Which columns the gate hands out: the flow's own, and those that the next step needs."""

    columns: tuple[str, ...]
    window: Window | None = None
    for_pair: bool = False
    number: int = 0  # of the source among those of its query
    versioned: bool = False  # whether its answers tell their version, so that either mode may run

    def ddl(self, source: Source) -> str:
        """The columns as Spark declares them."""
        assert source.schema is not None
        own = str(source.schema.only(self.columns))
        added = [f"{name} {kind}" for name, kind in self._added()]
        return ", ".join([own, *added] if own else added)

    def _added(self) -> list[tuple[str, str]]:
        added = [(AGES, AGES_DDL)]
        if self.window is not None or self.for_pair or self.versioned:
            added.append((ARRIVAL, "bigint"))
        if self.window is not None:
            added.append((TICK, "timestamp"))
        if self.window is not None and not self.window.tumbling and not self.for_pair:
            added.append((CLOSED, "bigint"))
        if self.for_pair:
            added += [(TIME, "bigint"), (SEQ, "bigint")]
        return added

    def arrow(self, schema: Schema) -> pa.Schema:
        """The columns as Arrow fields."""
        own = list(schema.only(self.columns).arrow())
        kinds = {"bigint": pa.int64(), "timestamp": UTC_MICROS, AGES_DDL: AGES_ARROW}
        return pa.schema([*own, *(pa.field(name, kinds[kind]) for name, kind in self._added())])

    def marks(self, before: Decision, after: Decision) -> bool:
        """Whether the batch carries a marker row: for the end of the topic, or to close windows."""
        if self.window is None:
            return False
        return after.ended > before.ended or self.for_pair


@dataclass(frozen=True, slots=True)
class Admission:
    """How the records of one source become rows."""

    source: Source
    shape: Shape
    quarantine: Path


@dataclass(frozen=True, slots=True)
class Timed:
    """Records with their times; the last of a slice with the ages of all of them."""

    records: Records
    times_us: NDArray[np.int64]
    ages: Ages | None = None


def marker_batch(shape: Shape, source: Source, decision: Decision) -> pa.RecordBatch:
    """One row that is no record: it moves Spark's watermark and tells pairs what has closed."""
    assert source.schema is not None
    wanted = shape.arrow(source.schema)
    tick = END_OF_TIME_US if decision.ended else 0
    values = {TICK: tick, ARRIVAL: None, CLOSED: 0, TIME: decision.wm_ms * 1_000, SEQ: NO_RECORD}
    columns = [pa.array([values.get(field.name)], field.type) for field in wanted]
    return pa.RecordBatch.from_arrays(columns, schema=wanted)


def admit_records(
    topic: OpenTopic, piece: Slice, decision: Decision, spec: Admission
) -> Iterator[pa.RecordBatch]:
    """The rows of one slice; what cannot be answered is set aside under the slice's own name."""
    unreadable: list[Quarantined] = []
    late: list[Quarantined] = []
    held: Timed | None = None  # the last block waits until it is known what follows it
    tally = AgesTally(decision.at_us)
    blank = piece.stop - piece.first
    expired = 0
    for records in topic.read(piece):
        blank -= len(records.offsets) + len(records.bad) + records.expired
        expired += records.expired
        unreadable += [as_quarantined(record) for record in records.bad]
        times_us, records, untimed = timed(records, spec.source.time)
        unreadable += untimed
        on_time_ = on_time(times_us, decision, spec.shape.window)
        if not on_time_.all():
            late += late_records(records, times_us, on_time_, decision)
            records, times_us = chosen(records, on_time_), times_us[on_time_]
        if len(times_us):
            if held is not None:
                yield rows_of(held, piece, decision, spec)
            held = Timed(records, times_us)
            tally.add(records.arrivals_us)
    if held is not None:
        yield rows_of(replace(held, ages=tally.told(blank)), piece, decision, spec)
    else:
        note(spec.quarantine, spec.source.name, piece, "blank", blank)
    note(spec.quarantine, spec.source.name, piece, "expired", expired)
    set_aside(spec.quarantine, spec.source.name, piece, "unreadable", unreadable)
    set_aside(spec.quarantine, spec.source.name, piece, "late", late)


def as_quarantined(record: BadRecord) -> Quarantined:
    """A record that could not be decoded, as the quarantine keeps it."""
    return Quarantined(record.offset, record.raw, record.reason)


def timed(
    records: Records, time: EventTime | None
) -> tuple[NDArray[np.int64], Records, list[Quarantined]]:
    """Each record's time in microseconds; records without one are set apart."""
    if time is None:
        return records.arrivals_us, records, []
    column = records.batch.column(time.column)
    keep = in_time(column, time.unit)
    untimed: list[Quarantined] = []
    if not keep.all():
        for row in np.flatnonzero(~keep):
            found = column[row].as_py()
            why = f"time column {time.column!r} is {found}: no time before the year 9999; is its "
            why += "unit right?"
            if found is None:
                why = f"its time is missing: it has no {time.column!r}"
            untimed.append(Quarantined(int(records.offsets[row]), as_json(records, int(row)), why))
        records = chosen(records, keep)
        column = records.batch.column(time.column)
    return time_micros(column, time.unit), records, untimed


def in_time(column: pa.Array, unit: str) -> NDArray[np.bool_]:
    """Which values are times at all: not null, finite, and before the end of time."""
    if pa.types.is_timestamp(column.type):
        micros = column.cast(UTC_MICROS).cast(pa.int64()).cast(pa.float64(), safe=False)
    else:
        micros = pc.multiply(column.cast(pa.float64(), safe=False), float(MICROS[unit]))
    values = micros.to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(values) < END_OF_TIME_US, dtype=bool)


def time_micros(column: pa.Array, unit: str) -> NDArray[np.int64]:
    """A column of times or numbers as microseconds since 1970."""
    if pa.types.is_timestamp(column.type):
        return np.asarray(column.cast(UTC_MICROS).cast(pa.int64()).to_numpy())
    values = column.to_numpy(zero_copy_only=False)
    if pa.types.is_floating(column.type):
        return np.asarray(np.round(values * MICROS[unit]), dtype=np.int64)
    return np.asarray(values, dtype=np.int64) * MICROS[unit]


def on_time(
    times_us: NDArray[np.int64], decision: Decision, window: Window | None
) -> NDArray[np.bool_]:
    """Which records still have an open window: the last window that holds them has not closed."""
    if window is None:
        return np.ones(len(times_us), dtype=bool)
    steps = (times_us - 1 - window.origin_us) // window.slide_us
    last_end = window.origin_us + steps * window.slide_us + window.size_us
    return np.asarray(last_end > decision.wm_ms * 1_000)


def late_records(
    records: Records,
    times_us: NDArray[np.int64],
    keep: NDArray[np.bool_],
    decision: Decision,
) -> list[Quarantined]:
    """Records that came after all their windows had closed."""
    found = []
    for row in np.flatnonzero(~keep):
        why = late_because(int(times_us[row]), decision.wm_ms)
        found.append(Quarantined(int(records.offsets[row]), as_json(records, int(row)), why))
    return found


def late_because(time_us: int, watermark_ms: int) -> str:
    """Why a record that came too late was set aside.

    >>> late_because(1_000_000, 3_000)
    'its windows had closed: its time is 2 s behind the watermark'
    >>> late_because(0, 0)
    'its time is 1970-01-01 00:00 UTC or before, where watermarks begin: give it a later time'
    """
    if watermark_ms <= 0:
        return (
            "its time is 1970-01-01 00:00 UTC or before, where watermarks begin: give it a later "
            "time"
        )
    behind_s = (watermark_ms * 1_000 - time_us) / 1e6
    return f"its windows had closed: its time is {behind_s:g} s behind the watermark"


def as_json(records: Records, row: int) -> bytes:
    """One record as JSON, where its bytes as they came are not at hand."""
    return orjson.dumps(records.batch.slice(row, 1).to_pylist()[0], default=repr)


def chosen(records: Records, keep: NDArray[np.bool_]) -> Records:
    """The records of some rows."""
    batch = records.batch.filter(pa.array(keep))
    return Records(batch, records.offsets[keep], records.arrivals_us[keep])


def rows_of(found: Timed, piece: Slice, decision: Decision, spec: Admission) -> pa.RecordBatch:
    """Records as rows with the columns of the shape."""
    records, times_us = found.records, found.times_us
    assert spec.source.schema is not None
    wanted = spec.shape.arrow(spec.source.schema)
    arrays = []
    for field in wanted:
        match field.name:
            case "__ages":
                arrays.append(ages_column(found))
            case "__arrival_us":
                arrays.append(pa.array(records.arrivals_us))
            case "__tick":
                arrays.append(pa.array(times_us - 1).cast(UTC_MICROS))
            case "__closed_us":
                arrays.append(pa.array(np.full(len(times_us), decision.wm_ms * 1_000)))
            case "__time_us":
                arrays.append(pa.array(times_us))
            case "__seq":
                arrays.append(pa.array(seq_of(spec.shape.number, piece.partition, records.offsets)))
            case name:
                arrays.append(records.batch.column(name))
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def ages_column(found: Timed) -> pa.StructArray:
    """The ages of all records of a slice, on the first row of its last block.

    Summed up here by numpy, since Spark's `observe()` looks at each row: with the sums and a sketch
    made there a word count ran a tenth slower.
    """
    if found.ages is None:
        return pa.nulls(len(found.times_us), AGES_ARROW)
    ages = found.ages
    first = {
        "sum": ages.sum_s,
        "squares": ages.squares_s2,
        "sketch": ages.sketch,
        "blank": ages.blank,
    }
    rest = pa.nulls(len(found.times_us) - 1, AGES_ARROW)
    return pa.concat_arrays([pa.array([first], AGES_ARROW), rest])

"""Answers into Kafka by Spark's own sink, row by row: at least once, each with its version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType, DecimalType, DoubleType, FloatType, StringType

from headway.engine.kafka.sink import VERSION_MARK, WINDOW_MARK
from headway.engine.spark.compile import HIDDEN, STAMPS
from headway.engine.spark.gate.columns import (
    ARRIVAL,
    ARRIVED,
    FROM,
    LAST,
    MAPPED,
    READ,
    VERSION,
    WINDOW_END,
)
from headway.engine.spark.realtime.stamps import (
    age_ms,
    long,
    map_ms,
    mapped_ms,
    now_ms,
    packed,
    short,
    sketched,
    told,
)
from headway.measure.latency import Latency, sampled
from headway.measure.together import LONG_MS, SHORT_MS

OUT = "headway.out"  # the name under which answers are observed
FROM_MARK = "headway.from"  # the header of a row that no state has seen: whence its record came
NOT_SHOWN = (*HIDDEN, *STAMPS)
TAKEN = "__taken"  # of a row that is metered: its times until it was handed to the sink
ANSWERED, PASSED_ON = "answered", "passed_on"  # what is summed up of rows with a state, without
ISO = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx"


def kafka_rows(frame: DataFrame, keys: Sequence[str], metered: bool) -> DataFrame:
    """Rows as Spark's sink takes them (key, value, headers), seen as they leave."""
    shown = [name for name in frame.columns if name not in NOT_SHOWN]
    stateful = VERSION in frame.columns
    marks = {VERSION_MARK: VERSION} if stateful else {FROM_MARK: FROM}
    if WINDOW_END in frame.columns:
        marks[WINDOW_MARK] = WINDOW_END
    made = [
        key_of(frame, [name for name in keys if name in shown]).alias("key"),
        value_of(frame, shown).alias("value"),
        F.array(*(header(name, column) for name, column in marks.items())).alias("headers"),
    ]
    # Spark's sink passes over columns that it does not know by name. What nobody reads is held all
    # the same: Spark would leave it out of the states, which micro-batch shares.
    held = [name for name in (ARRIVAL, READ, ARRIVED, MAPPED, LAST) if name in frame.columns]
    rows = F.count(F.lit(1)).alias("rows")
    if not metered:
        # First, or Spark makes one step of the select and the state, and orders that by the former.
        return frame.observe(OUT, rows).select(*held, *made)
    # The last column, so that making the row is not taken for publishing it.
    timed = frame.select(*held, *made, taken(stateful, now_ms()).alias(TAKEN))
    name = ANSWERED if stateful else PASSED_ON
    return timed.observe(OUT, rows, sketched(name, F.col(TAKEN)))


def taken(stateful: bool, out_ms: Column) -> Column:
    """The times of a row that leaves: from its arrival, and how much of that came before what."""
    if stateful:
        whole_ms = out_ms - F.expr(f"{ARRIVED} div 1000")
        before = long(f"{mapped_ms()} - {ARRIVED} div 1000")
        return packed(MAPPED, whole_ms, before, short(map_ms()))
    return packed(READ, out_ms - F.expr(f"{ARRIVAL} div 1000"), long(age_ms()))


def times_of(row: dict[str, Any] | None) -> dict[str, Latency]:
    """What `taken` has summed up, by name: a row with a state was mapped, then shuffled to it."""
    stateful = row is not None and ANSWERED in row
    found = {name: Latency.none() for name in ("whole", "map", "shuffle")}
    name, rooms = (ANSWERED, (LONG_MS, SHORT_MS)) if stateful else (PASSED_ON, (LONG_MS,))
    times = told(row, name, *rooms)
    if times is None:
        return found
    rest = sampled(times.times_s[0] - times.times_s[1], times.weights).not_negative()
    parts = {"map": times.latency(2), "shuffle": rest} if stateful else {"map": rest}
    return found | {"whole": times.latency()} | parts


def header(name: str, column: str) -> Column:
    """A header of Kafka's with the text of a column."""
    value = F.encode(F.col(column).cast("string"), "UTF-8")
    return F.struct(F.lit(name).alias("key"), value.alias("value"))


def value_of(frame: DataFrame, shown: Sequence[str]) -> Column:
    """A row as a JSON object, in the form that micro-batches are published in."""
    cells = [plain(frame.schema[name].dataType, name).alias(name) for name in shown]
    options = {"ignoreNullFields": "false", "timestampFormat": ISO}
    return F.to_json(F.struct(*cells), options)


def key_of(frame: DataFrame, keys: Sequence[str]) -> Column:
    """The key of a row: one text as it is, anything else as JSON."""
    if not keys:
        return F.lit(None).cast("string")
    if len(keys) == 1 and isinstance(frame.schema[keys[0]].dataType, StringType):
        return F.col(keys[0])
    parts = [bare_json(plain(frame.schema[name].dataType, name)) for name in keys]
    if len(parts) == 1:
        return parts[0]
    return F.concat(F.lit("["), F.concat_ws(",", *parts), F.lit("]"))


def bare_json(value: Column) -> Column:
    """One value as JSON: Spark makes it of arrays only, so the brackets go."""
    listed = F.to_json(F.array(value), {"ignoreNullFields": "false", "timestampFormat": ISO})
    return F.substring(listed, F.lit(2), F.length(listed) - 2)


def plain(kind: DataType, name: str) -> Column:
    """What JSON has no form for, as text: decimals exactly, bytes in hexadecimal."""
    column = F.col(f"`{name}`")
    if isinstance(kind, DecimalType):
        return column.cast("string")
    if isinstance(kind, BinaryType):
        return F.lower(F.hex(column))
    if isinstance(kind, DoubleType | FloatType):
        return F.when(F.isnan(column) | (F.abs(column) == float("inf")), None).otherwise(column)
    return column

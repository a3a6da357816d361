"""Answers into Kafka by Spark's own sink, row by row: at least once, each with its version."""

from __future__ import annotations

from collections.abc import Sequence

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
    METERED,
    READ,
    VERSION,
    WINDOW_END,
)
from headway.engine.spark.realtime.stamps import NOW_MS, summed

OUT = "headway.out"  # the name under which answers are observed
FROM_MARK = "headway.from"  # the header of a row that no state has seen: whence its record came
NOT_SHOWN = (*HIDDEN, *STAMPS)
OUT_MARK = "headway.out"  # the header that tells when a metered row was handed to the sink
OUT_MS = "__out_ms"  # the same as a column
ISO = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx"


def kafka_rows(frame: DataFrame, keys: Sequence[str], metered: bool) -> DataFrame:
    """Rows as Spark's sink takes them (key, value, headers), seen as they leave."""
    shown = [name for name in frame.columns if name not in NOT_SHOWN]
    stateful = VERSION in frame.columns
    marks = {VERSION_MARK: VERSION} if stateful else {FROM_MARK: FROM}
    if WINDOW_END in frame.columns:
        marks[WINDOW_MARK] = WINDOW_END
    # Looked at by nobody, but what is not looked at Spark leaves out of the states, which
    # micro-batch shares.
    held = [LAST] if metered else [ARRIVED, MAPPED, LAST]
    times = [F.max(name).alias(name) for name in held if name in frame.columns]
    if metered:
        frame, taken = timed(frame, stateful)
        times, marks[OUT_MARK] = times + taken, OUT_MS
    seen = frame.observe(OUT, F.count(F.lit(1)).alias("rows"), *times)
    headers = [header(name, column) for name, column in marks.items()]
    return seen.select(
        key_of(seen, [name for name in keys if name in shown]).alias("key"),
        value_of(seen, shown).alias("value"),
        F.array(*headers).alias("headers"),
    )


def timed(frame: DataFrame, stateful: bool) -> tuple[DataFrame, list[Column]]:
    """Rows with the time at which they leave, if theirs is taken, and what to sum up of it."""
    if stateful:
        # The records that were picked where they were read; no other column of theirs is left.
        frame = frame.withColumn(METERED, F.col(MAPPED).isNotNull())
    arrived = ARRIVED if stateful else ARRIVAL
    whole = summed("whole", f"({OUT_MS} - {arrived} / 1000) / 1000")
    since = ("shuffle", MAPPED) if stateful else ("map", READ)
    part = summed(since[0], f"({OUT_MS} - {since[1]}) / 1000")
    return frame.withColumn(OUT_MS, F.expr(NOW_MS)), whole + part


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

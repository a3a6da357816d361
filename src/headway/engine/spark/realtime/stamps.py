"""A clock read for some records in SQL, and how their times travel on and are summed up."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.classic.column import Column as ClassicColumn

from headway.engine.spark.gate.columns import MAPPED, READ
from headway.measure.latency import SKETCH_K
from headway.measure.together import LONG_MS, SHORT_MS, Together

# Of so many rows the times of one are taken: a prime number, so that records which come in batches
# of one size are picked from all over their batch.
SHARE = 23
# What was mapped also tells when it was read: in its last bits, which suffice for the difference.
READ_BITS = 20
OLDEST_MS = 2**38  # as which all that is older, by some nine years, is told


def now_ms() -> Column:
    """The time when a row is made, on whatever host that is, and no code of ours in the JVM.

    Spark's SQL has java_method() for that, which brings each time as a text; what Spark makes of
    calls of its own brings the number.
    """
    context = SparkContext._active_spark_context
    assert context is not None
    jvm: Any = context._jvm
    sql, none = jvm.org.apache.spark.sql, jvm.PythonUtils.toSeq([])
    called = sql.catalyst.expressions.objects.StaticInvoke(
        jvm.java.lang.Class.forName("java.lang.System"), sql.types.DataTypes.LongType,
        "currentTimeMillis", none, none, False, False, False, jvm.scala.Option.empty(),
    )  # fmt: skip
    return ClassicColumn(sql.classic.ExpressionUtils.column(called))


def read_now() -> Column:
    """How old a record is, and the time, for those that are picked: by place, whatever they hold.

    Not by rand(), which would have another seed, and so other code, in each interval.
    """
    age_ms = now_ms() - F.expr("unix_micros(timestamp) div 1000")
    told_ms = F.least(F.greatest(age_ms, F.lit(-OLDEST_MS)), F.lit(OLDEST_MS))
    both = told_ms * F.lit(LONG_MS) + now_ms() % F.lit(LONG_MS)
    return F.when(F.expr(f"offset % {SHARE} = 0"), both).alias(READ)


def age_ms() -> str:
    """How old a record was when it was read."""
    return f"shiftright({READ}, {LONG_MS.bit_length() - 1})"


def mapped(frame: DataFrame) -> DataFrame:
    """Tell when each record that is metered has been mapped."""
    both = now_ms() * F.lit(1 << READ_BITS) + F.expr(f"{READ} & {(1 << READ_BITS) - 1}")
    return frame.withColumn(MAPPED, F.when(F.col(READ).isNotNull(), both))


def mapped_ms() -> str:
    """When a record was mapped."""
    return f"shiftright({MAPPED}, {READ_BITS})"


def map_ms() -> str:
    """How long it took from reading a record to having it mapped."""
    return f"pmod({mapped_ms()} - {MAPPED} % {1 << READ_BITS}, {1 << READ_BITS})"


def packed(known: str, first_ms: Column, *others: tuple[str, int]) -> Column:
    """Several times of a row in one number: the first one, and others that each have a room.

    Nothing where `known` is null. A column, not part of an aggregate: code is made of columns, and
    Spark looks at each aggregate for each row without.
    """
    number = first_ms.cast("double")
    for other_ms, room in others:
        most = F.lit(room - 1)
        number = number * F.lit(float(room)) + F.least(F.greatest(F.expr(other_ms), F.lit(0)), most)
    return F.when(F.col(known).isNotNull(), number)


def sketched(name: str, number: Column) -> Column:
    """One aggregate for all times of rows: Spark plans each anew at each checkpoint."""
    return F.kll_sketch_agg_double(number.cast("double"), SKETCH_K).alias(name)


def short(time_ms: str) -> tuple[str, int]:
    """A time of which no more than some seconds are expected."""
    return time_ms, SHORT_MS


def long(time_ms: str) -> tuple[str, int]:
    """A time of which no more than some hours are expected."""
    return time_ms, LONG_MS


def told(row: dict[str, Any] | None, name: str, *rooms: int) -> Together | None:
    """What was summed up under a name, if anything."""
    known = row.get(name) if row is not None else None
    return None if known is None else Together.from_sketch(bytes(known), *rooms)

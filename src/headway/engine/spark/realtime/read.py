"""Records straight from Kafka by Spark's own source, decoded in SQL as the gate decodes them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headway.engine.spark.compile import OBSERVED
from headway.engine.spark.gate.admission import MICROS, Shape
from headway.engine.spark.gate.columns import ARRIVAL, FROM, READ, TICK
from headway.engine.spark.realtime.stamps import read_now, sketched
from headway.engine.topics.port import Position
from headway.flow.columns.schema import Schema
from headway.flow.steps import Source
from headway.flow.topics import KafkaTopic
from headway.flow.windows import END_OF_TIME_US
from headway.plan.modes import RealTime

RECORD, VALUE, BAD, WHY = "__record", "__value", "__bad", "__why"
STRICT = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": WHY,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}


@dataclass(frozen=True, slots=True)
class NativeSource:
    """A source as real-time mode reads it; `begin` is where a run without a checkpoint starts."""

    source: Source
    shape: Shape
    knobs: RealTime
    begin: Position
    traced: bool  # whether answers tell whence their record came: those that no state has seen
    metered: bool

    @property
    def topic(self) -> KafkaTopic:
        """The topic behind it."""
        assert isinstance(self.source.topic, KafkaTopic)
        return self.source.topic

    def options(self) -> dict[str, str]:
        """What Spark's source is told."""
        begin = {self.topic.name: self.begin}
        return {
            "kafka.bootstrap.servers": self.topic.servers,
            "subscribe": self.topic.name,
            "startingOffsets": json.dumps(begin),
            "failOnDataLoss": str(self.topic.expired == "fail").lower(),
            "kafka.isolation.level": "read_committed",
            "kafka.fetch.max.wait.ms": str(round(self.knobs.fetch_wait_s * 1e3)),
            "kafka.fetch.min.bytes": str(self.knobs.fetch_bytes),
            "kafka.max.poll.records": str(self.knobs.poll_records),
        }


def read_native(spark: SparkSession, native: NativeSource) -> DataFrame:
    """The records of a source with the columns of its shape, metered; bad ones are left out.

    How many are bad is counted here; which ones, and why, the driver finds out afterwards by
    reading the same offsets as the gate would.
    """
    raw = spark.readStream.format("kafka").options(**native.options()).load()
    judged = raw.select(*parsed_columns(native)).select("*", F.expr(bad_sql(native)).alias(BAD))
    # Not count_if(): Spark rewrites that at each checkpoint, which takes as long as ten rules.
    seen = [
        F.count(F.lit(1)).alias("rows"),
        F.expr(f"count(CASE WHEN {BAD} THEN 1 END)").alias("bad"),
    ]
    if native.metered:
        # No current_timestamp() here: it would stand in the generated code, which Java would then
        # compile, and warm up, anew for each interval.
        seen.append(sketched("read", F.col(READ)))
    counted = judged.observe(f"{OBSERVED}:{native.source.name}", *seen)
    rows = counted.where(f"NOT {BAD}").select(*columns_sql(native))
    window = native.shape.window
    if window is None:
        return rows
    return rows.withWatermark(TICK, f"{window.lateness_us // 1_000} milliseconds")


def parsed_columns(native: NativeSource) -> list[Column]:
    """A record parsed, with no more of headway's columns than somebody reads: each is planned."""
    topic = native.topic
    # The time comes first: parsing is part of the map.
    made = [read_now()] if native.metered else []
    made += [
        F.expr(parsed_sql(topic, value_schema(native))).alias(RECORD),
        F.expr("unix_micros(timestamp)").alias(ARRIVAL),
        F.expr("coalesce(length(value), 0) = 0").alias("__empty"),
    ]
    if topic.key is not None:
        made.append(F.expr("CAST(key AS STRING)").alias("__key"))
    if topic.format == "avro":
        made.append(F.col("value").alias(VALUE))
    if native.traced:
        made.append(F.expr("concat(topic, '-', partition, '-', offset)").alias(FROM))
    return made


def value_schema(native: NativeSource) -> Schema:
    """The columns of a record's value."""
    assert native.source.schema is not None
    own = (column for column in native.source.schema if column.name != native.topic.key)
    return Schema(tuple(own))


def parsed_sql(topic: KafkaTopic, values: Schema) -> str:
    """A record's value as a struct; null, or with a reason, when it is none.

    >>> parsed_sql(KafkaTopic("b:1", "t", "text"), Schema.parse("line string"))
    "named_struct('line', CAST(value AS STRING), '__why', CAST(NULL AS STRING))"
    """
    text = "CAST(value AS STRING)"
    if topic.format == "text":
        name = values.names[0]
        return f"named_struct('{name}', {text}, '{WHY}', CAST(NULL AS STRING))"
    if topic.format == "avro":
        return f"from_avro(value, {quoted(topic.avro)}, map('mode', 'PERMISSIVE'))"
    ddl = ", ".join([*(f"`{c.name}` {c.type}" for c in values), f"`{WHY}` string"])
    options = STRICT | ({"sep": topic.delimiter} if topic.format == "csv" else {})
    pairs = ", ".join(f"'{name}', '{value}'" for name, value in options.items())
    return f"from_{topic.format}({text}, '{ddl}', map({pairs}))"


def quoted(text: str) -> str:
    """A text as a literal of SQL's.

    >>> quoted("it's a \\\\")
    "'it\\\\'s a \\\\\\\\'"
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def unlike_sql(avro: str) -> str:
    """A condition that is true for what is no record of an Avro schema.

    Spark makes nulls of what it cannot read, and passes over bytes that are left. A record that was
    read whole has all that may not be null, and is the same bytes when it is written again.
    """
    fields = json.loads(avro)["fields"]
    sure = [f"{RECORD}.`{f['name']}` IS NULL" for f in fields if not may_be_null(f["type"])]
    texts = [f["name"] for f in fields if "string" in (f["type"], *as_list(f["type"]))]
    sure += [f"NOT coalesce(is_valid_utf8({RECORD}.`{name}`), true)" for name in texts]
    missing = " OR ".join(sure) or "false"
    return f"CASE WHEN {missing} THEN true ELSE to_avro({RECORD}, {quoted(avro)}) <> {VALUE} END"


def as_list(kind: object) -> list[object]:
    """The choices of an Avro type; none where it is no union."""
    return list(kind) if isinstance(kind, list) else []


def may_be_null(kind: object) -> bool:
    """Whether an Avro type has null among its choices."""
    return kind == "null" or "null" in as_list(kind)


def bad_sql(native: NativeSource) -> str:
    """A condition that is true for records that cannot be answered."""
    reasons = ["__empty", f"{RECORD} IS NULL"]
    avro = native.topic.format == "avro"
    reasons.append(unlike_sql(native.topic.avro) if avro else f"{RECORD}.{WHY} IS NOT NULL")
    if native.source.time is not None:
        reasons.append(f"NOT coalesce(abs({time_sql(native)}) < {END_OF_TIME_US}, false)")
    return f"coalesce({' OR '.join(reasons)}, true)"


def time_sql(native: NativeSource) -> str:
    """A record's time in microseconds."""
    time = native.source.time
    if time is None:
        return ARRIVAL
    assert native.source.schema is not None
    column, kind = f"{RECORD}.`{time.column}`", native.source.schema.type_of(time.column)
    if kind == "timestamp":
        return f"unix_micros({column})"
    if kind == "double":
        return f"CAST(round({column} * {MICROS[time.unit]}) AS BIGINT)"
    return f"CAST({column} AS BIGINT) * {MICROS[time.unit]}"


def columns_sql(native: NativeSource) -> list[Column]:
    """The columns that the flow reads, and headway's own."""
    assert native.source.schema is not None
    made = []
    for name in native.shape.columns:
        from_key = name == native.topic.key
        made.append(F.col("__key" if from_key else f"{RECORD}.`{name}`").alias(name))
    made.append(F.col(ARRIVAL))
    made += [F.col(FROM)] if native.traced else []
    made += [F.col(READ)] if native.metered else []
    if native.shape.window is not None:
        made.append(F.expr(f"timestamp_micros({time_sql(native)} - 1)").alias(TICK))
    return made

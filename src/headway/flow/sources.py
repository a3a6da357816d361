"""The beginnings of a flow: replay a file, records or a maker, or follow a spool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from headway.errors import FlowError
from headway.flow.columns.avro import avro_columns, read_avro
from headway.flow.columns.peek import peek_schema
from headway.flow.columns.schema import Column, Schema
from headway.flow.rates import Rate, parse_rate
from headway.flow.steps import Source
from headway.flow.stream import Stream
from headway.flow.topics import (
    EventTime,
    Format,
    KafkaTopic,
    MadeRecords,
    RecordMaker,
    ReplayedFile,
    ReplayedRecords,
    Spooled,
    StreamedFrame,
    Topic,
)

FORMATS: dict[str, Format] = {
    ".jsonl": "json", ".json": "json", ".ndjson": "json", ".csv": "csv", ".tsv": "csv",
    ".txt": "text", ".log": "text", ".parquet": "parquet",
}  # fmt: skip


def replay(
    what: str | Path | Sequence[dict[str, Any]] | RecordMaker,
    *,
    rate: Rate = None,
    schema: str | None = None,
    time: str | EventTime | None = None,
    count: int | None = None,
    name: str | None = None,
) -> Stream:
    """Replay a file, a list of records or a record maker, open-loop: record n is due at n / rate.

    `rate` is records per second, a schedule such as ``[("10s", 5000), ("5s", 40000)]``, or None for
    all at once. `time` names the column of the event time; without it a record's time is its
    arrival.
    """
    topic: Topic
    if isinstance(what, str | Path):
        topic = file_topic(Path(what), rate)
        found = Schema.parse(schema) if schema else peek_schema(topic)
        label = Path(what).name.split(".")[0]
    elif isinstance(what, RecordMaker):
        if rate is None and count is None:
            raise FlowError("a maker has no end; give replay a rate, a count, or both")
        if " at 0x" in repr(what):
            raise FlowError(
                f"{what!r} has no text of its own, so a checkpoint could not be known again; make "
                "it a dataclass or give it a __repr__"
            )
        topic = MadeRecords(what, parse_rate(rate), count)
        found, label = Schema.parse(schema or what.schema), type(what).__name__.lower()
    elif isinstance(what, Sequence) and not isinstance(what, str):
        topic = ReplayedRecords(tuple(what), parse_rate(rate))
        found, label = (Schema.parse(schema) if schema else records_schema(what)), "records"
    else:
        raise FlowError(f"replay takes a file, a list of records or a maker; got {what!r}")
    return begin(name or label, topic, found, time)


def spool(
    folder: str | Path,
    *,
    schema: str | None = None,
    time: str | EventTime | None = None,
    start: Literal["earliest", "latest"] = "earliest",
    name: str | None = None,
) -> Stream:
    """Follow a spool folder that other processes append to through ``headway.Spool``."""
    topic = Spooled(Path(folder).resolve(), start)
    found = Schema.parse(schema) if schema else peek_schema(topic)
    return begin(name or Path(folder).name, topic, found, time)


def topic(
    name: str,
    *,
    at: str,
    schema: str | None = None,
    format: Literal["json", "csv", "text", "avro"] = "json",
    avro: str | Path | None = None,
    key: str | None = None,
    time: str | EventTime | None = None,
    start: Literal["earliest", "latest"] = "earliest",
    expired: Literal["fail", "skip"] = "fail",
) -> Stream:
    """Follow a topic of Kafka's, given as ``topic("tweets", at="kafka://host:9092", schema=...)``.

    `schema` declares the columns of a record's value. Of Avro's, `avro` is the schema that it is
    written with, as text or as an .avsc file. `key` names a text column for the record's key.
    `expired` says what happens when Kafka has removed records before they were read.
    """
    servers = at.removeprefix("kafka://").rstrip("/")
    if not at.startswith("kafka://") or not servers or "/" in servers:
        raise FlowError(f"at must be 'kafka://host:port'; got {at!r}")
    check_choice("format", format, ("json", "csv", "text", "avro"))
    check_choice("start", start, ("earliest", "latest"))
    check_choice("expired", expired, ("fail", "skip"))
    written = read_avro(avro) if avro is not None else ""
    columns = value_columns(format, schema, written)
    if key is not None:
        columns = Schema((*columns, Column(key, "string")))
    found = KafkaTopic(servers, name, format, written, ",", key, start, expired)
    return begin(name, found, columns, time)


def stream(
    frame: Any,
    *,
    arrival: str | None = None,
    time: str | EventTime | None = None,
    name: str = "stream",
) -> Stream:
    """Begin with a streaming DataFrame of Spark's: any source of yours, without a gate.

    headway measures it and publishes its answers once, but admits nothing: Spark itself decides
    when a batch begins and how much it takes. `arrival` names a timestamp column that tells when a
    record arrived (Kafka's `timestamp`); without it latency counts from the start of a batch.
    """
    if not getattr(frame, "isStreaming", False):
        raise FlowError(
            f"stream takes a streaming DataFrame, as spark.readStream makes it; got "
            f"{type(frame).__name__}. Stored data are replayed with headway.replay(...)"
        )
    kinds = {field.name: str(field.dataType.simpleString()) for field in frame.schema}
    event = EventTime(time) if isinstance(time, str) else time
    for what, column in (("arrival", arrival), ("time", event.column if event else None)):
        if column is not None:
            check_time_kind(what, column, kinds)
    if arrival is not None and not kinds[arrival].startswith("timestamp"):
        raise FlowError(f"arrival column {arrival!r} is a {kinds[arrival]}; it must be a timestamp")
    columns = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
    source = Source(name, StreamedFrame(frame, columns, arrival), None, event)
    return Stream((source,), tuple(kinds))


def check_time_kind(what: str, column: str, kinds: dict[str, str]) -> None:
    """Refuse a column that is not there, or cannot hold a time."""
    if column not in kinds:
        raise FlowError(
            f"{what} column {column!r} is not there; the columns are {', '.join(kinds)}"
        )
    if kinds[column] not in ("timestamp", "timestamp_ntz", "bigint", "int", "double"):
        raise FlowError(
            f"{what} column {column!r} is a {kinds[column]}; make it a timestamp, or a number with "
            "EventTime(column, unit='ms')"
        )


def value_columns(format: str, schema: str | None, avro: str) -> Schema:
    """The columns of a topic's values, declared, or known from the format."""
    if format == "avro":
        if not avro:
            raise FlowError("a topic in Avro needs its schema; give avro='record.avsc'")
        return avro_columns(avro)
    if schema is not None:
        return Schema.parse(schema)
    if format == "text":
        return Schema.parse("value string")
    raise FlowError(
        f"the columns of a topic in {format} cannot be guessed; declare them with schema='name "
        "type, name type'"
    )


def check_choice(what: str, given: str, known: Sequence[str]) -> None:
    """Refuse a word that is none of those that are known."""
    if given not in known:
        raise FlowError(f"{what} must be {' or '.join(map(repr, known))}; got {given!r}")


def begin(name: str, topic: Topic, schema: Schema | None, time: str | EventTime | None) -> Stream:
    """Start a stream from a topic, with its event time checked against its columns."""
    event = EventTime(time) if isinstance(time, str) else time
    if event is not None and schema is not None:
        check_time(event, schema)
    columns = schema.names if schema is not None else None
    return Stream((Source(name, topic, schema, event),), columns)


def check_time(time: EventTime, schema: Schema) -> None:
    """Refuse an event time that is not a column, or not a column that can hold a time."""
    if time.column not in schema.names:
        raise FlowError(f"time column {time.column!r} is not there; the columns are {schema}")
    kind = schema.type_of(time.column)
    if kind not in ("timestamp", "bigint", "int", "double"):
        raise FlowError(
            f"time column {time.column!r} is a {kind}; declare it as timestamp, or as a number "
            "with EventTime(column, unit='ms')"
        )


def file_topic(path: Path, rate: Rate) -> ReplayedFile:
    """Describe a file by its ending, after a look that it is there."""
    if not path.is_file():
        raise FlowError(f"there is no file {str(path)!r} to replay; check the path")
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending not in FORMATS:
        raise FlowError(f"{path.name!r} ends in {ending!r}; known endings are {', '.join(FORMATS)}")
    delimiter = "\t" if ending == ".tsv" else ","
    return ReplayedFile(path.resolve(), FORMATS[ending], parse_rate(rate), delimiter=delimiter)


def records_schema(records: Sequence[dict[str, Any]]) -> Schema:
    """The columns of records at hand."""
    if not records:
        raise FlowError("replay got no records; pass some, or declare schema='name type, ...'")
    try:
        return Schema.from_arrow(pa.RecordBatch.from_pylist(list(records)).schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise FlowError(
            f"the records disagree about their types ({error}); declare a schema"
        ) from error

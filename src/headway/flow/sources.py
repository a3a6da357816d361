"""The beginnings of a flow: replay a file, records or a maker, or follow a spool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from headway.errors import FlowError
from headway.flow.peek import peek_schema
from headway.flow.rates import Rate, parse_rate
from headway.flow.schema import Schema
from headway.flow.steps import Source
from headway.flow.stream import Stream
from headway.flow.topics import (
    EventTime,
    Format,
    MadeRecords,
    RecordMaker,
    ReplayedFile,
    ReplayedRecords,
    Spooled,
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

"""Where records come from, described and not yet opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import pyarrow as pa

from headway.flow.columns.schema import Schema
from headway.flow.rates import RateSchedule

Format = Literal["json", "csv", "text", "parquet", "avro"]


@runtime_checkable
class RecordMaker(Protocol):
    """A topic made by a function: any range of its records, the same each time it is asked."""

    @property
    def schema(self) -> str:
        """The columns of its records, as Spark SQL declares them."""
        ...

    def make(self, first: int, stop: int) -> pa.RecordBatch:
        """Records `first` to `stop`, a function of these numbers alone."""
        ...


@dataclass(frozen=True, slots=True)
class ReplayedFile:
    """A file whose record n falls due at its place in the schedule."""

    path: Path
    format: Format
    rate: RateSchedule
    header: bool = True
    delimiter: str = ","


@dataclass(frozen=True, slots=True)
class ReplayedRecords:
    """Records at hand in memory, replayed at a rate."""

    records: tuple[Any, ...] = field(repr=False)
    rate: RateSchedule


@dataclass(frozen=True, slots=True)
class MadeRecords:
    """Records that a maker makes on demand, `count` of them or without end."""

    maker: RecordMaker
    rate: RateSchedule
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Spooled:
    """A spool folder that other processes append to."""

    folder: Path
    start: Literal["earliest", "latest"] = "earliest"


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic of Kafka's.

    format    of a record's value; of Avro's, `avro` is the schema that it was written with
    key       the column that takes a record's key as text; None when the key is not read
    start     where a new run begins
    expired   what to do when the retention has removed records that were not read yet
    """

    servers: str
    name: str
    format: Format = "json"
    avro: str = ""
    delimiter: str = ","
    key: str | None = None
    start: Literal["earliest", "latest"] = "earliest"
    expired: Literal["fail", "skip"] = "fail"


@dataclass(frozen=True, slots=True)
class StreamedFrame:
    """A streaming DataFrame of Spark's that the user has made; no gate stands before it.

    arrival   its column that tells when a record arrived; None when nothing does
    """

    frame: Any = field(repr=False)
    columns: str
    arrival: str | None = None


Topic = ReplayedFile | ReplayedRecords | MadeRecords | Spooled | KafkaTopic | StreamedFrame


def describe_topic(topic: Topic) -> str:
    """What a topic is, as plans and checkpoints name it; its rate is not part of that."""
    match topic:
        case ReplayedFile(path, kind):
            return f"{kind} file {path.name}"
        case ReplayedRecords(records):
            return f"{len(records)} records"
        case MadeRecords(maker, _, count):
            return f"{'endless' if count is None else count} records of {maker!r}"
        case Spooled(folder):
            return f"spool {folder.name}"
        case KafkaTopic(servers, name):
            return f"topic {name} at kafka://{servers}"
        case StreamedFrame(_, columns):
            return f"streaming DataFrame of {columns}"


def identify_topic(topic: Topic) -> str:
    """What a checkpoint's offsets belong to; a file or a broker may have moved, a spool may not."""
    if isinstance(topic, KafkaTopic):
        return f"topic {topic.name}"
    return str(topic.folder) if isinstance(topic, Spooled) else describe_topic(topic)


@dataclass(frozen=True, slots=True)
class EventTime:
    """The column that says when a record happened, and its unit where it is a number."""

    column: str
    unit: Literal["s", "ms", "us"] = "s"


@dataclass(frozen=True, slots=True)
class Target:
    """Where answers go: a kind of sink with its address, or a function."""

    kind: Literal["console", "spool", "parquet", "kafka", "callback"]
    address: str = ""
    call: Callable[[int, pa.Table], None] | None = None


def in_kafka(address: str) -> tuple[str, str]:
    """The servers and the topic of a sink's address.

    >>> in_kafka("localhost:9092/counts")
    ('localhost:9092', 'counts')
    """
    servers, _, topic = address.partition("/")
    return servers, topic


__all__ = [
    "EventTime",
    "KafkaTopic",
    "MadeRecords",
    "RecordMaker",
    "ReplayedFile",
    "ReplayedRecords",
    "Schema",
    "Spooled",
    "StreamedFrame",
    "Target",
    "Topic",
    "in_kafka",
]

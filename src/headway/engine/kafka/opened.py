"""A topic of Kafka's, opened for reading behind the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from headway.clock import Clock, SystemClock
from headway.engine.kafka.client import (
    EARLIEST,
    LATEST,
    PATIENCE_S,
    away,
    offsets_of,
    partitions_of,
    shared_consumer,
)
from headway.engine.topics.decode import Layout, decode
from headway.engine.topics.port import BadRecord, Position, Records, Slice, advance
from headway.errors import TopicError
from headway.flow.columns.schema import Schema
from headway.flow.topics import KafkaTopic

BLOCK_RECORDS = 20_000  # records that are decoded at once
GROWTH_S = 1.0  # how often new partitions are looked for
Found = TypeVar("Found")


class Expired(Exception):
    """The record at this offset is no longer kept; a word between two methods of this file."""

    def __init__(self, first: int) -> None:
        super().__init__(first)
        self.first = first


class OpenKafka:
    """The partitions of a topic. Records of transactions that were given up are never seen."""

    def __init__(self, topic: KafkaTopic, schema: Schema, clock: Clock | None = None) -> None:
        self._topic, self._schema = topic, schema
        self._clock = clock or SystemClock()
        own = [name for name in schema.names if name != topic.key]
        values = schema.only(tuple(own))
        self._layout = Layout(
            topic.format, values, topic.delimiter, fields=tuple(own), avro=topic.avro
        )
        self._partitions: list[TopicPartition] = []
        self._looked_s = -GROWTH_S
        self._reach: Position = {}
        self._heard_s = self._clock.steady_s()

    def begin(self) -> Position:
        """The first record that is still kept, or the next one to come."""
        spec = LATEST if self._topic.start == "latest" else EARLIEST
        return self._patiently(lambda: self._ask(spec))

    def reach(self, now_us: int) -> Position:
        """The end of what is committed; while the broker is away, what it said last."""
        try:
            self._reach = self._ask(LATEST)
            self._heard_s = self._clock.steady_s()
        except KafkaException as error:
            self._bear(error)
        return dict(self._reach)

    def cut(self, start: Position, reach: Position, rows: int | None) -> Position:
        """Equal shares of all partitions, after a look that their records are still kept."""
        if self._topic.expired == "fail":
            self._check_kept(start)
        return advance(start, reach, rows)

    def finished(self, position: Position) -> bool:
        """Never: anyone may append. A topic that ends before it is another one of the same name."""
        for partition, read in position.items():
            end = self._reach.get(partition, read)
            if read > end:
                raise TopicError(
                    f"partition {partition} of topic {self._topic.name!r} ends at offset {end}, "
                    f"but the run has read up to {read}: the topic was made anew. Give the flow a "
                    "new run folder"
                )
        return False

    def read(self, piece: Slice) -> Iterator[Records]:
        """The records of a slice; offsets that hold none, such as marks, are passed over."""
        place = TopicPartition(self._topic.name, int(piece.partition), piece.first)
        while place.offset < piece.stop:
            try:
                yield from self._read(place, piece.stop)
                return
            except Expired as gone:
                if self._topic.expired == "fail":
                    raise self._expired(piece.partition, gone.first) from None
                kept = self._patiently(lambda: self._ask(EARLIEST, [place]))[piece.partition]
                place.offset = min(piece.stop, max(gone.first, kept))
                yield replace(self._records([]), expired=place.offset - gone.first)

    def _read(self, place: TopicPartition, stop: int) -> Iterator[Records]:
        consumer = shared_consumer(self._topic.servers)
        consumer.assign([place])
        waiting: list[Message] = []
        try:
            for messages, reached in self._consume(place, stop):
                waiting += messages
                while len(waiting) >= BLOCK_RECORDS or (waiting and reached):
                    yield self._records(waiting[:BLOCK_RECORDS])
                    waiting = waiting[BLOCK_RECORDS:]
        finally:
            consumer.unassign()

    def _consume(self, place: TopicPartition, stop: int) -> Iterator[tuple[list[Message], bool]]:
        """Messages below `stop` as they come, and whether that was all of them."""
        consumer = shared_consumer(self._topic.servers)
        heard_s, following = self._clock.steady_s(), place.offset
        while following < stop:
            messages = []
            for message in consumer.consume(min(BLOCK_RECORDS, stop - following), timeout=0.05):
                error = message.error()
                if error is None:
                    following = place_of(message) + 1
                    if following <= stop:
                        messages.append(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    # Where the last offsets hold no record, this alone tells that they are passed.
                    following = max(following, place_of(message))
                else:
                    self._refuse(error, place, following)
            if messages:
                heard_s = self._clock.steady_s()
            elif following < stop and self._clock.steady_s() - heard_s > PATIENCE_S:
                raise TopicError(
                    f"no record of {self._where(place)} came for {PATIENCE_S:g} s, though offset "
                    f"{stop - 1} exists; see whether the broker at {self._topic.servers} is well"
                )
            yield messages, following >= stop

    def _refuse(self, error: KafkaError, place: TopicPartition, following: int) -> None:
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise Expired(following)
        if error.fatal() or not away(KafkaException(error)):
            raise TopicError(f"{self._where(place)} cannot be read: {error.str()}")

    def _records(self, messages: list[Message]) -> Records:
        values = [message.value() or b"" for message in messages]
        offsets = np.fromiter((m.offset() for m in messages), np.int64, len(messages))
        arrivals = np.fromiter((m.timestamp()[1] for m in messages), np.int64, len(messages))
        decoded = decode(values, self._layout)
        bad = tuple(
            BadRecord(int(offsets[row]), values[row], why if values[row] else "the value is empty")
            for row, why in decoded.bad
        )
        good = slice(None) if decoded.good is None else np.array(decoded.good, dtype=np.int64)
        batch = decoded.batch
        if self._topic.key is not None:
            keys = pa.array([m.key() for m in messages], pa.binary()).take(
                pa.array(np.arange(len(messages))[good])
            )
            columns = [*batch.columns, decode_keys(keys)]
            batch = pa.RecordBatch.from_arrays(columns, schema=self._schema.arrow())
        return Records(batch, offsets[good], arrivals[good] * 1_000, bad)

    def _ask(self, spec: OffsetSpec, of: list[TopicPartition] | None = None) -> Position:
        if of is None:
            of = self._find_partitions()
        found = offsets_of(self._topic.servers, spec, of)
        return {str(partition): offset for partition, offset in found.items()}

    def _find_partitions(self) -> list[TopicPartition]:
        now_s = self._clock.steady_s()
        if now_s - self._looked_s >= GROWTH_S:
            self._partitions = partitions_of(self._topic.servers, self._topic.name)
            self._looked_s = now_s
        return self._partitions

    def _check_kept(self, start: Position) -> None:
        try:
            kept = self._ask(EARLIEST)
        except KafkaException as error:
            self._bear(error)
            return
        for partition, first in start.items():
            if kept.get(partition, 0) > first:
                raise self._expired(partition, first, kept[partition])

    def _expired(self, partition: str, first: int, kept: int | None = None) -> TopicError:
        upto = f"{first} to {kept - 1}" if kept else f"{first} and following"
        return TopicError(
            f"records {upto} of partition {partition} of topic {self._topic.name!r} were removed "
            "by Kafka's retention before they were read. To go on without them, build the flow "
            "with topic(..., expired='skip'); to lose none, raise the topic's retention.ms"
        )

    def _patiently(self, ask: Callable[[], Found]) -> Found:
        self._heard_s = self._clock.steady_s()
        while True:
            try:
                return ask()
            except KafkaException as error:
                self._bear(error)
                self._clock.sleep(0.2)

    def _bear(self, error: KafkaException) -> None:
        gone_s = self._clock.steady_s() - self._heard_s
        if not away(error):
            raise TopicError(f"topic {self._topic.name!r} cannot be read: {error}") from error
        if gone_s > PATIENCE_S:
            raise TopicError(
                f"the broker at {self._topic.servers} has been away for {gone_s:.0f} s; nothing is "
                "lost. Start it, and start the run again in the same folder"
            ) from error

    def _where(self, place: TopicPartition) -> str:
        return f"partition {place.partition} of topic {self._topic.name!r}"


def place_of(message: Message) -> int:
    """The offset of a message, which one that was consumed always has."""
    offset = message.offset()
    assert offset is not None
    return offset


def decode_keys(keys: pa.Array) -> pa.Array:
    """Keys as text; bytes that are no text become the sign for that, as Spark's cast makes them."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        texts = [k.decode(errors="replace") if k is not None else None for k in keys.to_pylist()]
        return pa.array(texts, pa.string())

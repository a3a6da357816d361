"""Answers into a topic of Kafka's, each batch once: its rows and its number in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import orjson
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from headway.clock import Clock, SystemClock
from headway.engine.kafka.client import (
    PATIENCE_S,
    QUIET,
    BrokerAway,
    away,
    partitions_of,
    produce,
)
from headway.errors import TopicError
from headway.flow.topics import in_kafka

MARK = "headway.batch"  # the header that tells a consumer which batch a row belongs to
VERSION_MARK = "headway.version"  # the one that tells which of two rows of a key is the newer
VERSION, WINDOW_END = "__version", "__window_end_us"  # the columns that become headers
FINAL_MARK = "headway.final"  # the one of a window's last answer; there is one for each
WINDOW_MARK = (
    "headway.window"  # the one that tells the window of a running answer by its end, in us
)
# What an attempt leaves behind that a new producer gets over: a transaction that timed out, was
# given up, or was in no state to go on.
LEFT = (KafkaError._STATE, KafkaError._MSG_TIMED_OUT, KafkaError._PURGE_QUEUE)
FENCED = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
Header = list[tuple[str, str | bytes | None]]
Row = tuple[bytes | None, bytes, Header]
AT_ONCE = 1_000  # rows between two looks at what the broker has acknowledged


class KafkaSink:
    """Publishes a batch in one transaction that also commits the batch's number.

    The number is the offset of a consumer group that is named after the run and its sink: where a
    batch is replayed, the group says that it was published, whatever happened in between. An older
    process of the same run is fenced off by the transactional id. Consumers read with
    ``isolation.level=read_committed``, and see a batch as a whole or not at all. A broker keeps the
    number for `offsets.retention.minutes` (seven days) after the last process of the run has ended:
    a run that crashed in between its two commits must be started again before that.
    """

    def __init__(
        self,
        address: str,
        name: str,
        keys: Sequence[str] = (),
        final: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self._servers, self._topic = in_kafka(address)
        self._name, self._keys, self._final = f"headway-{name}", tuple(keys), final
        self._clock = clock or SystemClock()
        self._producer: Producer | None = None
        self._group: Consumer | None = None
        self._last = -1
        self.patience_s = PATIENCE_S

    def publish(self, batch: int, answers: pa.Table) -> bool:
        """Publish the rows, unless the group says that they are out."""
        return self.publish_rows(batch, marked_rows(answers, self._keys, self._final))

    def publish_rows(self, batch: int, rows: Sequence[Row]) -> bool:
        """Publish rows with headers of their own, unless the group says that the batch is out."""
        if not rows:
            return True
        return bool(self._patiently(lambda: self._publish(batch, rows)))

    def last_published(self) -> int:
        """The last batch that is out; -1 before the first."""
        return int(self._patiently(self._published))

    def any_published(self) -> bool:
        """Whether a batch of an earlier start is out."""
        return self.last_published() >= 0

    def close(self) -> None:
        """Hang up."""
        if self._group is not None:
            self._group.close()
        self._group = self._producer = None

    def _publish(self, batch: int, rows: Sequence[Row]) -> bool:
        producer = self._open()
        if batch <= self._last:
            return False
        try:
            self._transact(producer, batch, rows)
        except KafkaException as error:
            self._give_up(producer, error)
            raise
        self._last = batch
        return True

    def _transact(self, producer: Producer, batch: int, rows: Sequence[Row]) -> None:
        producer.begin_transaction()
        mark = (MARK, str(batch).encode())
        for place, (key, value, header) in enumerate(rows):
            produce(producer, self._topic, value, key=key, headers=[mark, *header])
            if place % AT_ONCE == 0:
                producer.poll(0)
        producer.send_offsets_to_transaction(
            [TopicPartition(self._topic, 0, batch + 1)],
            self._members().consumer_group_metadata(),
            self.patience_s,
        )
        producer.commit_transaction(self.patience_s)

    def _give_up(self, producer: Producer, error: KafkaException) -> None:
        """Leave the transaction; whether it was committed after all, the next attempt looks up."""
        self._producer = None
        cause = error.args[0]
        if cause.code() in FENCED:
            raise TopicError(
                f"answers cannot be published to {self._topic!r} any more: {cause.str()}. Another "
                "process has taken this run over; there may be only one"
            ) from error
        with suppress(KafkaException):
            producer.abort_transaction(10.0)

    def _published(self) -> int:
        place = TopicPartition(self._topic, 0)
        (found,) = self._members().committed([place], timeout=10.0)
        if found.error is not None:
            raise KafkaException(found.error)
        return int(found.offset) - 1 if found.offset > 0 else -1

    def _open(self) -> Producer:
        if self._producer is None:
            partitions_of(self._servers, self._topic)
            producer = Producer(
                {
                    **QUIET,
                    "bootstrap.servers": self._servers,
                    "transactional.id": self._name,
                    # Longer than a broker may be away, or it would end the transaction by itself.
                    "transaction.timeout.ms": round(PATIENCE_S * 3_000),
                    "partitioner": "murmur2_random",  # as Java's clients do it, and so Spark's
                    "linger.ms": 5,
                    "compression.type": "lz4",
                }
            )
            # First fence off whoever had this name, then ask: what is out by now stays all.
            producer.init_transactions(self.patience_s)
            self._last = self._published()
            self._producer = producer
        return self._producer

    def _members(self) -> Consumer:
        if self._group is None:
            self._group = Consumer(
                {**QUIET, "bootstrap.servers": self._servers, "group.id": self._name}
            )
        return self._group

    def _patiently(self, attempt: Callable[[], Any]) -> Any:
        until = self._clock.steady_s() + self.patience_s
        while True:
            try:
                return attempt()
            except KafkaException as error:
                if not away(error) and error.args[0].code() not in LEFT:
                    raise TopicError(f"topic {self._topic!r} cannot be written: {error}") from error
                if self._clock.steady_s() > until:
                    raise BrokerAway(
                        f"the broker at {self._servers} was away for {self.patience_s:g} s, so "
                        "answers could not be published; nothing is lost. Start it, and start the "
                        "run again in the same folder"
                    ) from error
                self._clock.sleep(0.2)


def marked_rows(answers: pa.Table, keys: Sequence[str], final: bool) -> list[Row]:
    """Rows with their headers: the version, and whether more will follow of the same window."""
    marks = {VERSION_MARK: VERSION, WINDOW_MARK: WINDOW_END}
    found = {
        mark: answers.column(name).to_pylist()
        for mark, name in marks.items()
        if name in answers.column_names
    }
    closed = final and WINDOW_MARK not in found
    hidden = [name for name in marks.values() if name in answers.column_names]
    rows: list[Row] = []
    for place, (key, value) in enumerate(encoded(answers.drop_columns(hidden), keys)):
        header: Header = [(FINAL_MARK, b"1")] if closed else []
        header += [(mark, str(values[place]).encode()) for mark, values in found.items()]
        rows.append((key, value, header))
    return rows


def encoded(answers: pa.Table, keys: Sequence[str]) -> list[tuple[bytes | None, bytes]]:
    """Rows as JSON objects, each with the text of its key.

    >>> encoded(pa.table({"word": ["a"], "n": [2]}), ["word"])
    [(b'a', b'{"word":"a","n":2}')]
    """
    names = [name for name in keys if name in answers.column_names]
    rows = answers.to_pylist()
    return [(key_of(row, names), orjson.dumps(row, default=plain)) for row in rows]


def key_of(row: dict[str, Any], names: Sequence[str]) -> bytes | None:
    """The key of one row: a text as it is, anything else as JSON."""
    if not names:
        return None
    if len(names) == 1 and isinstance(row[names[0]], str):
        return str(row[names[0]]).encode()
    values = [row[name] for name in names]
    return orjson.dumps(values[0] if len(values) == 1 else values, default=plain)


def plain(value: Any) -> Any:
    """What JSON has no form for, as text: decimals exactly, bytes in hexadecimal."""
    return value.hex() if isinstance(value, bytes) else str(value)

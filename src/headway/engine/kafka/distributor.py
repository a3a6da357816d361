"""The way into a topic: stamps each record with its arrival and packs records into mini-batches.

Paper 1, section 2.2: a distributor in front of the mappers batches what arrives for an interval
B_in, so that the network carries few large messages instead of many small ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import orjson
from confluent_kafka import KafkaError, Message, Producer

from headway.clock import Clock, SystemClock
from headway.engine.kafka.client import PATIENCE_S, QUIET, partitions_of, produce
from headway.errors import TopicError
from headway.units import Duration, parse_duration

ANYWHERE = -1  # by the key, or in turn
Choose = Callable[[bytes | None, bytes, int], int]  # key, value, partitions -> partition


class Distributor:
    """Sends records to a topic of Kafka's; blocks when the broker cannot keep up, and loses none.

    every       how long records are gathered before they are sent together: B_in
    partition   chooses a partition from key, value and the number of partitions; by default the
                key's hash decides, and records without a key take turns
    most        records that may be on their way before `send` waits
    """

    def __init__(
        self,
        topic: str,
        *,
        at: str,
        every: Duration = "5ms",
        partition: Choose | None = None,
        most: int = 100_000,
        clock: Clock | None = None,
    ) -> None:
        self.topic = topic
        self._choose, self._clock = partition, clock or SystemClock()
        servers = at.removeprefix("kafka://").rstrip("/")
        self._partitions = len(partitions_of(servers, topic))
        self._producer = Producer(
            {
                **QUIET,
                "bootstrap.servers": servers,
                "linger.ms": parse_duration(every, "every") * 1_000,
                "enable.idempotence": True,
                "compression.type": "lz4",
                "queue.buffering.max.messages": most,
                "message.timeout.ms": round(PATIENCE_S * 1_000),
                "partitioner": "murmur2_random",
            }
        )
        self._lock = threading.Lock()
        self._failed: list[str] = []
        self.sent = self.delivered = 0

    def __enter__(self) -> Distributor:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()

    def send(
        self,
        record: dict[str, Any] | bytes | str,
        *,
        key: str | bytes | None = None,
        arrival_us: int | None = None,
    ) -> None:
        """Send one record: a dict as JSON, bytes and text as they are.

        `arrival_us` is when it arrived; now, if it is not given.
        """
        value = as_bytes(record)
        named = key.encode() if isinstance(key, str) else key
        at_us = self._clock.now_us() if arrival_us is None else arrival_us
        place = ANYWHERE
        if self._choose is not None:
            place = self._choose(named, value, self._partitions)
        produce(
            self._producer,
            self.topic,
            value,
            key=named,
            partition=place,
            on_delivery=self._heard,
            timestamp=at_us // 1_000,
        )
        self.sent += 1
        self._producer.poll(0)
        self._complain()

    def flush(self) -> None:
        """Wait until the broker has every record that was sent."""
        left = self._producer.flush(PATIENCE_S)
        self._complain()
        if left:
            raise TopicError(
                f"{left} of {self.sent} records did not reach topic {self.topic!r} within "
                f"{PATIENCE_S:g} s; see whether the broker is well, and send them again"
            )

    def _heard(self, error: KafkaError | None, message: Message) -> None:
        with self._lock:
            if error is None:
                self.delivered += 1
            else:
                self._failed.append(error.str())

    def _complain(self) -> None:
        if not self._failed:
            return
        with self._lock:
            failed, self._failed = self._failed, []
        if failed:
            raise TopicError(
                f"{len(failed)} records did not reach topic {self.topic!r}: {failed[0]}. Send "
                "them again"
            )


def as_bytes(record: dict[str, Any] | bytes | str) -> bytes:
    """A record as it travels."""
    match record:
        case bytes():
            return record
        case str():
            return record.encode()
        case dict():
            return orjson.dumps(record)
    raise TypeError(f"a record is a dict, bytes or text; got {type(record).__name__}")

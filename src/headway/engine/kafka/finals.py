"""The last answer of each window, told once, beside the running ones that real-time mode gives.

In real-time mode a window is answered anew with every record, and Spark forgets it in silence when
the watermark has passed its end. So the driver follows the answers as any consumer would, keeps the
newest of each open window, and publishes it again, marked as final, when the window has closed: in
one transaction with the number of the checkpoint, so that no crash makes it come twice.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from headway.clock import Clock, SystemClock
from headway.engine.kafka.client import LATEST, QUIET, offsets_of, partitions_of, patiently
from headway.engine.kafka.sink import FINAL_MARK, VERSION_MARK, WINDOW_MARK, Header, KafkaSink, Row
from headway.engine.topics.spool import write_durably
from headway.errors import TopicError
from headway.flow.topics import in_kafka

AT_ONCE = 2_000
POLL_S = 0.2
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Running:
    """The newest answer of an open window, and where the first one stands in the topic."""

    version: int
    value: bytes
    partition: int
    first: int


Name = tuple[int, bytes | None]  # the end of a window in microseconds, and the key


class Finals:
    """Follows the answers of one windowed query, and tells the final ones."""

    def __init__(
        self, address: str, sink: KafkaSink, kept: Path, clock: Clock | None = None
    ) -> None:
        self._servers, self._topic = in_kafka(address)
        self._sink, self._kept = sink, kept
        self._clock = clock or SystemClock()
        self._open: dict[Name, Running] = {}
        self._told: set[Name] = set()
        self._read: dict[int, int] = {}
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._consumer = Consumer(
            {**QUIET, "bootstrap.servers": self._servers, "group.id": f"finals-{kept.parent.name}",
             "enable.auto.commit": False, "auto.offset.reset": "earliest",
             "isolation.level": "read_committed", "enable.partition.eof": True}
        )  # fmt: skip
        self._consumer.assign(self._places())
        self._thread = threading.Thread(target=self._follow, name="headway-finals", daemon=True)
        self._thread.start()

    def settle(self, batch: int, watermark_us: int) -> list[int]:
        """Publish the last answers of windows that end by the watermark; returns their ends."""
        self._catch_up()
        with self._lock:
            closed = [name for name in self._open if name[0] <= watermark_us]
            fresh = [name for name in closed if name not in self._told]
            rows = [final_row(name, self._open[name]) for name in sorted(fresh, key=by_end)]
            self._sink.publish_rows(batch, rows)
            for name in closed:
                del self._open[name]
            self._told = {name for name in self._told if name[0] > watermark_us}
            self._keep_floor()
        return [end for end, _ in fresh]

    def close(self) -> None:
        """Stop following."""
        self._ending.set()
        self._thread.join()
        self._consumer.close()

    def _places(self) -> list[TopicPartition]:
        """Where to follow from: the first answers of the windows that were open, or the end."""
        floor: dict[str, int] = json.loads(self._kept.read_text()) if self._kept.exists() else {}
        places, ends = [], self._ends()
        for partition, end in ends.items():
            self._read[partition] = floor.get(str(partition), end)
            places.append(TopicPartition(self._topic, partition, self._read[partition]))
        if not self._kept.exists():
            self._keep_floor()
        return places

    def _follow(self) -> None:
        while not self._ending.is_set():
            messages = self._consumer.consume(AT_ONCE, POLL_S)
            with self._lock:
                for message in messages:
                    self._take(message)

    def _take(self, message: Message) -> None:
        error, partition, offset = message.error(), message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        if error is not None:
            # At the end of a partition, which may lie behind marks that are no messages.
            at_end = error.code() == KafkaError._PARTITION_EOF
            self._read[partition] = max(self._read[partition], offset if at_end else 0)
            return
        self._read[partition] = offset + 1
        headers = dict(message.headers() or [])
        window, version = headers.get(WINDOW_MARK), headers.get(VERSION_MARK)
        value = message.value()
        if window is None or version is None or value is None:
            return
        name, number = (int(window), message.key()), int(version)
        if FINAL_MARK in headers:
            self._told.add(name)
            return
        known = self._open.get(name)
        if known is None:
            self._open[name] = Running(number, value, partition, offset)
        elif number > known.version:
            self._open[name] = Running(number, value, partition, known.first)

    def _catch_up(self) -> None:
        """Wait until everything has been seen that is in the topic now."""
        ends = self._ends()
        for partition in ends.keys() - self._read.keys():  # the topic has grown
            self._read[partition] = 0
            self._consumer.incremental_assign([TopicPartition(self._topic, partition, 0)])
        until = self._clock.steady_s() + PATIENCE_S
        while any(self._read[partition] < end for partition, end in ends.items()):
            if self._clock.steady_s() > until:
                raise TopicError(f"the answers in {self._topic!r} cannot be followed any more")
            self._clock.sleep(POLL_S / 10)

    def _ends(self) -> dict[int, int]:
        return patiently(
            lambda: offsets_of(self._servers, LATEST, partitions_of(self._servers, self._topic)),
            self._clock,
        )

    def _keep_floor(self) -> None:
        """Remember from where a restart must follow so as to see the open windows whole."""
        floor = {str(partition): offset for partition, offset in self._read.items()}
        for found in self._open.values():
            place = str(found.partition)
            floor[place] = min(floor[place], found.first)
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        write_durably(self._kept, json.dumps(floor).encode())


def by_end(name: Name) -> int:
    """Windows that end sooner come first."""
    return name[0]


def final_row(name: Name, found: Running) -> Row:
    """The last answer of a window, marked as such."""
    end, key = name
    header: Header = [
        (VERSION_MARK, str(found.version).encode()),
        (WINDOW_MARK, str(end).encode()),
        (FINAL_MARK, b"1"),
    ]
    return key, found.value, header

"""How long answers take from Spark's sink to a consumer: a glance at the topic now and then.

In real-time mode Spark knows when it hands an answer to its sink, and nobody in it knows when the
answer is out. So the driver looks at the answers as their consumers do, a few at a time: each has
the time at which the sink gave it to Kafka's client. Of a topic that has its broker put in another
time nothing is learnt.
"""

from __future__ import annotations

import threading

import numpy as np
from confluent_kafka import OFFSET_END, TIMESTAMP_CREATE_TIME, Consumer

from headway.clock import Clock, SystemClock
from headway.engine.kafka.client import QUIET, partitions_of
from headway.flow.topics import in_kafka
from headway.measure.latency import Latency

EVERY_S, GLANCE_S, SETTLE_MS = 2.0, 0.12, 30
# A time in whole milliseconds is, by the middle, half of one over; where both ends of a span are
# such times that comes to nothing, but here only one is.
ROUNDED_MS = 0.5
ENOUGH = 150  # answers of one glance, each of which costs some microseconds


class Witness:
    """Takes samples of the time from the sink to a consumer."""

    def __init__(self, address: str, clock: Clock | None = None) -> None:
        self._servers, self._topic = in_kafka(address)
        self._clock = clock or SystemClock()
        self._taken: list[float] = []
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._consumer = Consumer(
            {**QUIET, "bootstrap.servers": self._servers, "group.id": "headway-witness",
             "enable.auto.commit": False, "auto.offset.reset": "latest"}
        )  # fmt: skip
        self._thread = threading.Thread(target=self._watch, name="headway-witness", daemon=True)
        self._thread.start()

    def taken(self) -> Latency:
        """What was seen since the last time it was asked."""
        with self._lock:
            seen, self._taken = self._taken, []
        return Latency.of(np.array(seen)).not_negative()

    def close(self) -> None:
        """Stop looking."""
        self._ending.set()
        self._thread.join()
        self._consumer.close()

    def _watch(self) -> None:
        while not self._ending.wait(EVERY_S):
            try:
                self._glance()
            except Exception:  # a broker that is away is no matter of a sample
                continue

    def _glance(self) -> None:
        places = partitions_of(self._servers, self._topic)
        for place in places:
            place.offset = OFFSET_END
        self._consumer.assign(places)
        # What was handed over while the consumer was being put in place would seem to be late.
        from_ms = self._clock.now_us() // 1_000 + SETTLE_MS
        until_s = self._clock.steady_s() + GLANCE_S
        seen = 0
        while self._clock.steady_s() < until_s and seen < ENOUGH:
            message = self._consumer.poll(GLANCE_S / 4)
            if message is None or message.error() is not None:
                continue
            kind, sent_ms = message.timestamp()
            if kind == TIMESTAMP_CREATE_TIME and sent_ms >= from_ms:
                seen += 1
                with self._lock:
                    self._taken.append(self._clock.now_us() / 1e6 - (sent_ms + ROUNDED_MS) / 1e3)
        self._consumer.unassign()

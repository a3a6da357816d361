"""Made records into a topic of Kafka's at a rate, from a process of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from headway.clock import Clock, SystemClock
from headway.engine.kafka.distributor import Distributor
from headway.engine.kafka.paced import Message, Paced, send_paced
from headway.errors import TopicError
from headway.flow.rates import Rate, parse_rate
from headway.flow.topics import RecordMaker
from headway.units import Duration


@dataclass(frozen=True, slots=True)
class Feed:
    """What is to be sent, where to, and how fast; `key` is the column that becomes the key."""

    maker: RecordMaker
    topic: str
    at: str
    rate: Rate
    count: int
    key: str | None = None
    every: Duration = "5ms"
    begin_us: int = 0  # when the first record is due; as soon as the feed is up, if not given


def feed(what: Feed, clock: Clock | None = None) -> int:
    """Send all records, each when it is due; return when the first was due, in microseconds."""
    clock = clock or SystemClock()

    def messages(first: int, stop: int) -> Iterator[Message]:
        for record in what.maker.make(first, stop).to_pylist():
            yield None if what.key is None else str(record[what.key]), orjson.dumps(record)

    with Distributor(what.topic, at=what.at, every=what.every) as to:
        begun_us = what.begin_us or clock.now_us()
        send_paced(to, Paced(messages, parse_rate(what.rate), what.count, begun_us), clock)
    return begun_us


class Feeder:
    """A feed in a process of its own, which ends with the block."""

    def __init__(self, what: Feed) -> None:
        starting: Any = multiprocessing.get_context("spawn")
        self._process = starting.Process(target=feed, args=(what,), daemon=True)
        self._process.start()

    def __enter__(self) -> Feeder:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until all is sent; False when the time was up first."""
        self._process.join(timeout_s)
        if self._process.exitcode not in (None, 0):
            raise TopicError(f"the feeder failed with code {self._process.exitcode}")
        return not self._process.is_alive()

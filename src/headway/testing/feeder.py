"""Made records into a topic of Kafka's at a rate, open-loop: record n is due at n / rate.

A record's arrival is when it was due, however late it is sent: what a slow sender costs counts as
latency, as it would if the records came from a thousand senders that know nothing of each other.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from typing import Any

import orjson

from headway.clock import Clock, SystemClock
from headway.engine.kafka.distributor import Distributor
from headway.errors import TopicError
from headway.flow.rates import Rate, parse_rate
from headway.flow.topics import RecordMaker
from headway.units import Duration

PAUSE_S = 0.002
AT_ONCE = 5_000


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
    schedule = parse_rate(what.rate)
    with Distributor(what.topic, at=what.at, every=what.every) as to:
        begun_us, sent = what.begin_us or clock.now_us(), 0
        while sent < what.count:
            due = schedule.due_by((clock.now_us() - begun_us) / 1e6)
            stop = min(what.count if due is None else due, what.count, sent + AT_ONCE)
            if stop == sent:
                clock.sleep(PAUSE_S)
                continue
            records = what.maker.make(sent, stop).to_pylist()
            arrivals_us = (begun_us + schedule.due_us(sent, stop)).tolist()
            for record, arrival_us in zip(records, arrivals_us, strict=True):
                key = None if what.key is None else str(record[what.key])
                to.send(orjson.dumps(record), key=key, arrival_us=arrival_us)
            sent = stop
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

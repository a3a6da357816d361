"""A consumer outside Spark that notes when each answer came, and what that says of each record.

An answer is a running count of its key: it answers every record of that key up to its count. So in
either mode, however many answers there are, it is known of each input record when it was answered.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from confluent_kafka import Consumer, TopicPartition
from numpy.typing import NDArray

from headway.clock import SystemClock
from headway.engine.kafka.client import partitions_of
from headway.flow.rates import Rate, parse_rate
from headway.flow.topics import RecordMaker, in_kafka

AT_ONCE = 10_000
PARTING_S = 30.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Answers as they came: the key, the count that it tells, and when it was seen."""

    keys: NDArray[np.object_]
    counts: NDArray[np.int64]
    at_us: NDArray[np.int64]


class Onlooker:
    """Follows the answers in a process of its own, from the end of the topic as it is now.

    Several columns may be the key, with commas between them; their values are joined by bars.
    """

    def __init__(self, address: str, key: str, count: str, place: Path) -> None:
        starting: Any = multiprocessing.get_context("spawn")
        self._place, self._stop, ready = place, starting.Event(), starting.Event()
        self._process = starting.Process(
            target=look_on, args=(address, (key, count), place, self._stop, ready), daemon=True
        )
        self._process.start()
        ready.wait(PARTING_S)

    def seen(self) -> Seen:
        """Stop following; what was seen."""
        self._stop.set()
        self._process.join(PARTING_S)
        with np.load(self._place, allow_pickle=True) as found:
            return Seen(found["keys"], found["counts"], found["at_us"])


def look_on(address: str, names: tuple[str, str], place: Path, stop: Any, ready: Any) -> None:
    """Note answers until told to stop, then leave them in a file; `names` are key and count."""
    servers, topic = in_kafka(address)
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"onlooker-{place.stem}",
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            "isolation.level": "read_committed",
            "fetch.queue.backoff.ms": 5,
        }
    )
    ends = []
    for where in partitions_of(servers, topic):
        where.offset = consumer.get_watermark_offsets(where, 10.0)[1]
        ends.append(TopicPartition(topic, where.partition, where.offset))
    consumer.assign(ends)
    consumer.poll(0.0)
    ready.set()
    clock = SystemClock()
    values: list[bytes] = []
    at_us: list[int] = []
    while not stop.is_set():
        first = consumer.poll(0.1)
        if first is None:
            continue
        found = [first, *consumer.consume(AT_ONCE, 0)]
        now_us = clock.now_us()
        for message in found:
            value = message.value()
            if message.error() is None and value is not None:
                values.append(value)
                at_us.append(now_us)
    consumer.close()
    rows = [orjson.loads(value) for value in values]
    parts = names[0].split(",")
    keys = np.array(["|".join(str(row[part]) for part in parts) for row in rows], dtype=object)
    counts = np.array([row[names[1]] for row in rows], dtype=np.int64)
    with place.open("wb") as file:
        np.savez(file, keys=keys, counts=counts, at_us=np.array(at_us, dtype=np.int64))


def answered_us(keys: NDArray[np.object_], seen: Seen) -> NDArray[np.int64]:
    """When each of the records with these keys was first answered; -1 for those that were not.

    >>> told = Seen(np.array(["a", "a"], object), np.array([1, 3]), np.array([10, 20]))
    >>> answered_us(np.array(["a", "b", "a", "a", "a"], object), told).tolist()
    [10, -1, 20, 20, -1]
    """
    answered = np.full(len(keys), -1, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    names, starts = np.unique(keys[order], return_index=True)
    places = dict(zip(names, np.split(order, starts[1:]), strict=True))
    done: dict[Any, int] = {}
    for key, count, at_us in zip(seen.keys, seen.counts, seen.at_us, strict=True):
        before = done.get(key, 0)
        if count > before and key in places:
            answered[places[key][before:count]] = at_us
            done[key] = int(count)
    return answered


def latencies_s(
    maker: RecordMaker, rate: Rate, begun_us: int, count: int, seen: Seen
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each record: when it was due after the beginning, and how late its answer was, or nan."""
    keys = np.array(maker.make(0, count).column("key").to_pylist(), dtype=object)
    due_us = parse_rate(rate).due_us(0, count).astype(np.float64)
    answered = answered_us(keys, seen).astype(np.float64)
    answered[answered < 0] = np.nan
    return due_us / 1e6, (answered - begun_us - due_us) / 1e6


def numbered(seen: Seen) -> Seen:
    """Answers that are no counts, numbered by key: the n-th answers the n-th record of its key."""
    known: dict[Any, int] = {}
    counts = np.empty(len(seen.keys), dtype=np.int64)
    for place, key in enumerate(seen.keys):
        counts[place] = known[key] = known.get(key, 0) + 1
    return Seen(seen.keys, counts, seen.at_us)

"""Clients of a broker, one per process and kind, and what its errors mean to a user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from headway.clock import Clock
from headway.errors import TopicError

Found = TypeVar("Found")
PATIENCE_S = 120.0  # how long a broker may be away before a run gives up
ANSWER_S = 5.0  # how long one question may take
EARLIEST, LATEST = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
QUIET: dict[str, Any] = {
    "log_level": 0,
    "topic.metadata.refresh.interval.ms": 5_000,
    "allow.auto.create.topics": False,  # a name that is misspelt shall be an error
}


class BrokerAway(TopicError):
    """A broker did not answer for as long as it was waited for."""


@lru_cache(maxsize=8)
def shared_consumer(servers: str) -> Consumer:
    """The consumer of this process; it belongs to no group, since Spark's log holds the offsets."""
    return Consumer(
        {
            **QUIET,
            "bootstrap.servers": servers,
            "group.id": "headway",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            # What is read is there already; a fetch that waits for more holds the next one up.
            "fetch.wait.max.ms": 5,
            "fetch.error.backoff.ms": 50,
            "check.crcs": True,
            "queued.max.messages.kbytes": 65_536,
            # How much is fetched ahead, of which a batch throws the rest away, and how long the
            # client pauses once it has that much: by itself a second, and the batch stands still.
            "queued.min.messages": 5_000,
            "fetch.queue.backoff.ms": 1,
        }
    )


@lru_cache(maxsize=8)
def shared_admin(servers: str) -> AdminClient:
    """The client of this process that asks about topics."""
    return AdminClient({**QUIET, "bootstrap.servers": servers})


def partitions_of(servers: str, topic: str) -> list[TopicPartition]:
    """The partitions that a topic has now."""
    found = shared_admin(servers).list_topics(topic, timeout=ANSWER_S).topics[topic]
    if found.error is not None:
        if found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise TopicError(f"there is no topic {topic!r} at {servers}; make it, or mend its name")
        raise KafkaException(found.error)
    return [TopicPartition(topic, number) for number in sorted(found.partitions)]


def wait_known(
    admin: AdminClient, topic: str, partitions: int, clock: Clock, patience_s: float
) -> None:
    """Wait until the broker tells others of a topic, which it does a little after making it."""
    until_s = clock.steady_s() + patience_s
    while clock.steady_s() < until_s:
        found = admin.list_topics(topic, timeout=patience_s).topics[topic]
        led = [part for part in found.partitions.values() if part.leader >= 0]
        if found.error is None and len(led) >= partitions:
            return
        clock.sleep(0.02)
    raise TopicError(f"the broker did not make topic {topic!r} known within {patience_s:g} s")


def offsets_of(servers: str, spec: OffsetSpec, of: Sequence[TopicPartition]) -> dict[int, int]:
    """The first or the next offset of partitions, as far as transactions have ended.

    A broker that is slow to answer may leave a partition out; the client then makes up an offset
    below 0 and calls it no error.
    """
    asked = shared_admin(servers).list_offsets(
        {TopicPartition(each.topic, each.partition): spec for each in of},
        isolation_level=IsolationLevel.READ_COMMITTED,
        request_timeout=ANSWER_S,
    )
    offsets = {each.partition: int(found.result().offset) for each, found in asked.items()}
    if min(offsets.values(), default=0) < 0:
        missing = KafkaError(KafkaError.OFFSET_NOT_AVAILABLE, "the broker left out a partition")
        raise KafkaException(missing)
    return offsets


def patiently(ask: Callable[[], Found], clock: Clock, patience_s: float = PATIENCE_S) -> Found:
    """Ask a broker something, and again while it is away, for a while."""
    until = clock.steady_s() + patience_s
    while True:
        try:
            return ask()
        except KafkaException as error:
            if not away(error) or clock.steady_s() > until:
                raise
            clock.sleep(0.2)


def produce(producer: Producer, topic: str, value: bytes, **more: Any) -> None:
    """Hand a message to a producer; while its queue is full, wait instead of losing it."""
    while True:
        try:
            producer.produce(topic, value, **more)
            return
        except BufferError:
            producer.poll(0.05)


def check_topic(servers: str, topic: str) -> None:
    """See that a broker answers and has the topic, or say what to do."""
    try:
        partitions_of(servers, topic)
    except KafkaException as error:
        raise TopicError(
            f"no broker answers at {servers} ({error.args[0].str()}); start it, or mend its address"
        ) from error


def away(error: KafkaException) -> bool:
    """Whether an error may pass by itself: the broker is starting, moving or out of reach."""
    cause = error.args[0]
    return bool(isinstance(cause, KafkaError) and (cause.retriable() or cause.code() in AWAY))


AWAY = (
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.NOT_COORDINATOR,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,  # while a transaction from before a restart is open
)

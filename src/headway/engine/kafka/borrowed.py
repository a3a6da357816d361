"""Topics that are there for a trial: as many partitions as another has, some of its records."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

from headway.clock import SystemClock
from headway.engine.kafka.client import ANSWER_S, QUIET, partitions_of, shared_admin, wait_known
from headway.engine.kafka.paced import Message
from headway.errors import TopicError

QUIET_S = 2.0  # without a record after which a topic is thought to have no more


@contextmanager
def borrowed_topic(servers: str, like: str) -> Iterator[str]:
    """A new topic with as many partitions as another has, which goes when the block ends."""
    name = f"headway-trial-{uuid.uuid4().hex[:12]}"
    admin = shared_admin(servers)
    # As many replicas as the broker gives by itself: fewer might be too few to write to.
    partitions = len(partitions_of(servers, like))
    new = NewTopic(name, partitions, -1)
    try:
        try:
            admin.create_topics([new], operation_timeout=ANSWER_S)[name].result()
            wait_known(admin, name, partitions, SystemClock(), ANSWER_S)
        except KafkaException as error:
            raise TopicError(
                f"no topic for a trial can be made at {servers} ({error.args[0].str()}); what the "
                "flow costs is learned while it runs instead"
            ) from error
        yield name
    finally:
        left = admin.delete_topics([name], operation_timeout=ANSWER_S)[name].exception()
        if left is not None and left.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            warnings.warn(f"topic {name!r} is left at {servers}: {left}; remove it", stacklevel=2)


def sample_of(servers: str, topic: str, count: int) -> list[Message]:
    """The oldest messages of a topic, key and value, as many as there are and are wanted."""
    found: list[Message] = []
    consumer = Consumer(
        {
            **QUIET,
            "bootstrap.servers": servers,
            "group.id": f"headway-trial-{uuid.uuid4().hex[:12]}",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    try:
        parts = partitions_of(servers, topic)
        # Said outright, or the broker is asked first what the group has read.
        consumer.assign([TopicPartition(topic, p.partition, OFFSET_BEGINNING) for p in parts])
        while len(found) < count:
            messages = consumer.consume(min(500, count - len(found)), timeout=QUIET_S)
            if not messages:
                break
            for message in messages:
                value = message.value()
                if message.error() is None and value is not None:
                    found.append((message.key(), value))
    finally:
        consumer.close()
    return found

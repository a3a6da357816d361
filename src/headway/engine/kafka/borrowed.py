"""Topics that are there for a trial: as many partitions as another has, some of its records."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

from headway.engine.kafka.client import ANSWER_S, QUIET, partitions_of, shared_admin
from headway.engine.kafka.paced import Message
from headway.errors import TopicError

QUIET_S = 2.0  # without a record after which a topic is thought to have no more


@contextmanager
def borrowed_topic(servers: str, like: str) -> Iterator[str]:
    """A new topic with as many partitions as another has, which goes when the block ends."""
    name = f"headway-trial-{uuid.uuid4().hex[:12]}"
    admin = shared_admin(servers)
    new = NewTopic(name, len(partitions_of(servers, like)), 1)
    try:
        admin.create_topics([new], operation_timeout=ANSWER_S)[name].result()
    except KafkaException as error:
        raise TopicError(
            f"no topic for a trial can be made at {servers} ({error.args[0].str()}); real-time "
            "mode is learned while the flow runs there instead"
        ) from error
    try:
        yield name
    finally:
        admin.delete_topics([name], operation_timeout=ANSWER_S)[name].exception()


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

"""Into Kafka: answers exactly once, records without loss."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, TopicPartition

import headway as hw
from headway.clock import SystemClock
from headway.engine.kafka.sink import MARK, KafkaSink
from headway.errors import TopicError
from headway.testing.broker import Broker, free_port

ANSWERS = pa.table({"word": ["a", "b"], "n": [1, 2]})


def consumed(broker: Broker, topic: str, count: int) -> list[tuple[bytes, bytes, int]]:
    """What a consumer outside sees: key, value and batch of each row."""
    consumer = Consumer(
        {"bootstrap.servers": broker.address, "group.id": "outside", "enable.partition.eof": True,
         "isolation.level": "read_committed"}
    )  # fmt: skip
    consumer.assign([TopicPartition(topic, 0, 0), TopicPartition(topic, 1, 0)])
    found, ends = [], 0
    while ends < 2 or len(found) < count:
        message = consumer.poll(10)
        assert message is not None, f"only {len(found)} of {count}"
        if message.error() is not None:
            ends += 1
        else:
            batch = dict(message.headers() or []).get(MARK, b"-1")
            found.append((message.key(), message.value(), int(batch)))
    consumer.close()
    return found


def test_a_replayed_batch_is_published_once(broker: Broker, topic: str) -> None:
    sink = KafkaSink(f"{broker.address}/{topic}", f"{topic}-run", ["word"])
    assert not sink.any_published()
    assert [sink.publish(batch, ANSWERS) for batch in (0, 1, 1, 0)] == [True, True, False, False]
    again = KafkaSink(f"{broker.address}/{topic}", f"{topic}-run", ["word"])
    assert again.any_published()
    assert [again.publish(batch, ANSWERS) for batch in (1, 2)] == [False, True]
    rows = consumed(broker, topic, 6)
    assert sorted(batch for _, _, batch in rows) == [0, 0, 1, 1, 2, 2]
    assert {row[:2] for row in rows} == {
        (b"a", b'{"word":"a","n":1}'),
        (b"b", b'{"word":"b","n":2}'),
    }


def test_an_older_process_of_the_same_run_is_fenced_off(broker: Broker, topic: str) -> None:
    old = KafkaSink(f"{broker.address}/{topic}", f"{topic}-run", ["word"])
    old.publish(0, ANSWERS)
    KafkaSink(f"{broker.address}/{topic}", f"{topic}-run", ["word"]).publish(1, ANSWERS)
    with pytest.raises(TopicError, match="taken this run over"):
        old.publish(1, ANSWERS)
    assert len(consumed(broker, topic, 4)) == 4


def test_an_empty_batch_needs_no_transaction(broker: Broker, topic: str) -> None:
    sink = KafkaSink(f"{broker.address}/{topic}", f"{topic}-run", [])
    assert sink.publish(0, ANSWERS.slice(0, 0))
    assert not sink.any_published()


def test_a_distributor_loses_nothing_when_it_must_wait(broker: Broker, topic: str) -> None:
    now_us = SystemClock().now_us()
    with hw.Distributor(topic, at=broker.at, most=50, partition=lambda k, v, n: len(v) % n) as to:
        for number in range(2_000):
            to.send({"n": number}, key=f"k{number % 3}", arrival_us=now_us + number)
    assert to.sent == to.delivered == 2_000
    found = consumed(broker, topic, 2_000)
    assert sorted(int(v[5:-1]) for _, v, _ in found) == list(range(2_000))


def test_a_distributor_wants_a_topic_that_is_there(broker: Broker) -> None:
    with pytest.raises(TopicError, match="no topic 'absent'"):
        hw.Distributor("absent", at=broker.at)


def test_a_broker_has_a_port_that_no_system_hands_out() -> None:
    handed_out = Path("/proc/sys/net/ipv4/ip_local_port_range")
    if not handed_out.exists():
        pytest.skip("this system does not say which ports it hands out")
    first = int(handed_out.read_text().split()[0])
    assert all(1024 <= free_port() < first for _ in range(20))

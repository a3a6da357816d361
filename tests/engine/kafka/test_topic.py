"""A topic of Kafka's behind the gate: every committed record once, whatever else is in the log."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace

import fastavro
import pytest
from confluent_kafka import Producer, TopicPartition

import headway as hw
from headway.clock import SystemClock
from headway.engine.kafka import client
from headway.engine.kafka.client import shared_admin
from headway.engine.kafka.opened import OpenKafka
from headway.engine.topics.port import Records, Slice, count_between
from headway.errors import TopicError
from headway.flow.stream import Stream
from headway.testing.broker import Broker, free_port
from tests.waiting import until

NOW_MS = SystemClock().now_us() // 1_000  # older records would be removed by the retention
AVRO = {
    "type": "record",
    "name": "Click",
    "fields": [{"name": "user", "type": "string"}, {"name": "size", "type": ["null", "long"]}],
}


def opened(stream: Stream) -> OpenKafka:
    source = stream.steps[0]
    assert source.schema is not None  # type: ignore[union-attr]
    return OpenKafka(source.topic, source.schema)  # type: ignore[union-attr, arg-type]


def read_all(found: OpenKafka) -> list[Records]:
    reach = found.reach(0)
    begin = found.begin()
    return [r for p, stop in reach.items() for r in found.read(Slice(p, begin[p], stop))]


def send(broker: Broker, topic: str, values: list[bytes | None], partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": broker.address})
    for place, value in enumerate(values):
        producer.produce(topic, value, f"k{place}", partition=partition, timestamp=NOW_MS + place)
    assert producer.flush(30) == 0


def avro_bytes(record: dict[str, object]) -> bytes:
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(AVRO), record)
    return data.getvalue()


CLICKS = [{"user": "ann", "size": 3}, {"user": "bob", "size": None}]
FORMATS: dict[str, tuple[Callable[[dict[str, object]], bytes], bytes]] = {
    "json": (lambda r: json.dumps(r).encode(), b"{not json"),
    "csv": (lambda r: f"{r['user']},{'' if r['size'] is None else r['size']}".encode(), b"a,b,c"),
    "avro": (avro_bytes, b"\x02"),
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_bad_value_is_named_and_harms_no_other(broker: Broker, topic: str, format: str) -> None:
    write, bad = FORMATS[format]
    send(broker, topic, [write(CLICKS[0]), bad, None, write(CLICKS[1])])
    how: dict[str, str] = {"avro": json.dumps(AVRO)} if format == "avro" else {}
    declared = None if format == "avro" else "user string, size bigint"
    found = opened(
        hw.topic(topic, at=broker.at, schema=declared, format=format, key="who", **how)  # type: ignore[arg-type]
    )
    (records,) = read_all(found)
    assert records.batch.to_pylist() == [CLICKS[0] | {"who": "k0"}, CLICKS[1] | {"who": "k3"}]
    assert records.offsets.tolist() == [0, 3]
    assert records.arrivals_us.tolist() == [NOW_MS * 1_000, (NOW_MS + 3) * 1_000]
    assert [(each.offset, each.raw) for each in records.bad] == [(1, bad), (2, b"")]
    assert records.bad[1].reason == "the value is empty"


def test_a_value_of_several_lines_is_one_record(broker: Broker, topic: str) -> None:
    send(broker, topic, [b'{"n":\n1}', b'{"n": 2}\n{"n": 3}', b'{"n": 4}'])
    (records,) = read_all(opened(hw.topic(topic, at=broker.at, schema="n bigint")))
    assert records.batch.column("n").to_pylist() == [1, 4]
    assert [each.offset for each in records.bad] == [1]


def test_only_committed_transactions_are_seen(broker: Broker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.address, "transactional.id": topic})
    producer.init_transactions(30)
    for committed in (True, False, True):
        producer.begin_transaction()
        producer.produce(topic, b"yes" if committed else b"no", partition=0)
        producer.flush(30)
        (producer.commit_transaction if committed else producer.abort_transaction)(30)
    found = opened(hw.topic(topic, at=broker.at, format="text"))
    done = {"0": 6, "1": 0}
    until(lambda: found.reach(0) == done)  # a commit is acknowledged before its mark is written
    producer.begin_transaction()
    producer.produce(topic, b"not yet", partition=0)
    producer.flush(30)
    assert found.reach(0) == done
    (records,) = read_all(found)
    assert records.batch.column("value").to_pylist() == ["yes", "yes"]
    assert records.offsets.tolist() == [0, 4]
    (tail,) = found.read(Slice("0", 4, 6))  # ends in a mark that is no record
    assert tail.offsets.tolist() == [4]
    assert list(found.read(Slice("0", 5, 6))) == []
    producer.abort_transaction(30)


def test_new_partitions_are_found(broker: Broker, topic: str) -> None:
    found = opened(hw.topic(topic, at=broker.at, format="text"))
    assert found.begin() == found.reach(0) == {"0": 0, "1": 0}
    broker.grow(topic, 3)
    send(broker, topic, [b"x"] * 5, partition=2)
    until(lambda: found.reach(0) == {"0": 0, "1": 0, "2": 5})
    end = found.cut({"0": 0, "1": 0}, found.reach(0), 3)
    assert (end, count_between({"0": 0, "1": 0}, end)) == ({"0": 0, "1": 0, "2": 3}, 3)
    (records,) = found.read(Slice("2", 0, 3))
    assert len(records.offsets) == 3


def test_a_run_may_begin_at_the_end(broker: Broker, topic: str) -> None:
    send(broker, topic, [b"old"] * 4)
    found = opened(hw.topic(topic, at=broker.at, format="text", start="latest"))
    assert found.begin() == {"0": 4, "1": 0}


def test_a_topic_that_is_not_there_is_named(broker: Broker) -> None:
    found = opened(hw.topic("nowhere", at=broker.at, format="text"))
    with pytest.raises(TopicError, match=r"no topic .nowhere.*make it"):
        found.begin()


def test_a_broker_that_is_not_there_is_named_before_anything_starts() -> None:
    flow = hw.topic("tweets", at=f"kafka://127.0.0.1:{free_port()}", format="text").to("console")
    with pytest.raises(TopicError, match=r"no broker answers at 127.0.0.1.*start it"):
        hw.run(flow)


def test_a_topic_made_anew_is_told_from_one_that_was_read(broker: Broker, topic: str) -> None:
    found = opened(hw.topic(topic, at=broker.at, format="text"))
    assert found.begin() == found.reach(0) == {"0": 0, "1": 0}
    assert not found.finished({"0": 0, "1": 0})
    with pytest.raises(TopicError, match=r"was made anew.*new run folder"):
        found.finished({"0": 7, "1": 0})


def test_an_offset_that_the_client_makes_up_is_no_end_of_a_topic(
    broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(broker, topic, [b'{"n": 1}'] * 5)
    found = opened(hw.topic(topic, at=broker.at, schema="n bigint"))
    ends = found.reach(0)
    assert sum(ends.values()) == 5
    admin = shared_admin(broker.address)

    def left_out(asked: dict[TopicPartition, object], **_: object) -> dict[TopicPartition, Future]:
        """What comes of a broker that did not answer in time, as it was seen."""
        answer: Future = Future()
        answer.set_result(SimpleNamespace(offset=-1001))
        return dict.fromkeys(asked, answer)

    silent = SimpleNamespace(list_offsets=left_out, list_topics=admin.list_topics)
    monkeypatch.setattr(client, "shared_admin", lambda _: silent)
    assert found.reach(0) == ends
    assert not found.finished(ends)


def test_records_that_expired_are_an_error_or_are_skipped_as_the_flow_says(broker: Broker) -> None:
    name = "short-lived"
    broker.create(name, partitions=1, retention_ms="200", segment_ms="100", segment_bytes="1048576")
    send(broker, name, [b"x" * 10] * 50)
    strict = opened(hw.topic(name, at=broker.at, format="text"))
    skipping = opened(hw.topic(name, at=broker.at, format="text", expired="skip"))
    until(lambda: strict.begin() == {"0": 50})
    with pytest.raises(TopicError, match=r"records 0 to 49 of partition 0.*expired='skip'"):
        strict.cut({"0": 0}, {"0": 50}, None)
    with pytest.raises(TopicError, match="records 10 and following"):
        list(strict.read(Slice("0", 10, 50)))
    assert skipping.cut({"0": 0}, {"0": 50}, None) == {"0": 50}
    (gone,) = skipping.read(Slice("0", 10, 50))
    assert (gone.expired, len(gone.offsets)) == (40, 0)

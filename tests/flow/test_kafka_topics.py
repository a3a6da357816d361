"""A topic or sink of Kafka's is described without a broker, and each mistake is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import headway as hw
from headway.errors import FlowError
from headway.flow.topics import KafkaTopic

AT = "kafka://localhost:9092"
CLICK = {
    "type": "record",
    "name": "Click",
    "fields": [
        {"name": "user", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "size", "type": ["null", "int"]},
    ],
}


def test_a_topic_has_the_declared_columns_and_its_key() -> None:
    stream = hw.topic("clicks", at=AT, schema="url string, size long", key="user", expired="skip")
    assert stream.columns == ("url", "size", "user")
    (source,) = stream.steps
    assert source.topic == KafkaTopic(  # type: ignore[union-attr]
        "localhost:9092", "clicks", key="user", expired="skip"
    )


def test_avro_brings_its_columns_along(tmp_path: Path) -> None:
    (tmp_path / "click.avsc").write_text(json.dumps(CLICK))
    for given in (json.dumps(CLICK), tmp_path / "click.avsc"):
        (source,) = hw.topic("clicks", at=AT, format="avro", avro=given).steps
        assert str(source.schema) == (  # type: ignore[union-attr]
            "user string, at timestamp, price decimal(9, 0), tags array<string>, size int"
        )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"at": "localhost:9092", "schema": "a int"}, "at must be 'kafka://host:port'"),
        ({"at": "kafka://", "schema": "a int"}, "at must be 'kafka://host:port'"),
        ({"at": AT}, "cannot be guessed; declare them"),
        ({"at": AT, "schema": "a int", "format": "xml"}, "format must be .* got 'xml'"),
        ({"at": AT, "schema": "a int", "start": "middle"}, "start must be .* got 'middle'"),
        ({"at": AT, "schema": "a int", "expired": "ok"}, "expired must be .* got 'ok'"),
        ({"at": AT, "schema": "a int", "key": "a"}, "column 'a' is declared twice"),
        ({"at": AT, "format": "avro"}, "needs its schema; give avro="),
        ({"at": AT, "format": "avro", "avro": "no.avsc"}, "there is no Avro schema 'no.avsc'"),
        ({"at": AT, "format": "avro", "avro": "{"}, "is not JSON"),
        ({"at": AT, "format": "avro", "avro": '{"type": "int"}'}, "type 'record' is needed"),
    ],
)
def test_a_mistake_is_named_when_the_flow_is_built(said: dict[str, Any], message: str) -> None:
    with pytest.raises(FlowError, match=message):
        hw.topic("clicks", **said)


@pytest.mark.parametrize("kind", ["uuid", "time-millis", "duration"])
def test_an_avro_type_that_no_column_has_is_refused(kind: str) -> None:
    field = {"name": "odd", "type": {"type": "string", "logicalType": kind}}
    schema = json.dumps(CLICK | {"fields": [field]})
    with pytest.raises(FlowError, match=f"'odd' is a {kind}"):
        hw.topic("clicks", at=AT, format="avro", avro=schema)


@pytest.mark.parametrize("target", ["kafka:counts", "kafka://host:1", "kafka://host:1/a/b"])
def test_a_sink_needs_servers_and_one_topic(target: str) -> None:
    with pytest.raises(FlowError, match="must be 'kafka://HOST:PORT/TOPIC'"):
        hw.replay([{"a": 1}]).to(target)


def test_a_checkpoint_fits_the_same_topic_at_another_broker_and_no_other_topic() -> None:
    def flow(name: str, at: str) -> hw.Flow:
        return hw.topic(name, at=at, schema="a int").to("console")

    first = flow("clicks", AT).fingerprint
    assert flow("clicks", "kafka://elsewhere:9092").fingerprint == first
    assert flow("visits", AT).fingerprint != first

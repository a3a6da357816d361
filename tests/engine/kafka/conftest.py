"""One broker for all tests of Kafka; left out where Kafka's jars could not be fetched."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from headway.engine.kafka.jars import kafka_home
from headway.testing.broker import Broker

NUMBERS = count()


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    if not any(kafka_home().glob("broker/*.jar")):
        pytest.skip("Kafka's jars are not there: install Maven and run make setup")
    with Broker() as running:
        yield running


@pytest.fixture
def topic(broker: Broker) -> str:
    """A new topic of two partitions."""
    name = f"topic-{next(NUMBERS)}"
    broker.create(name, partitions=2)
    return name

"""What several test files share: one Spark for all of them, started when the first one asks."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from headway.engine.kafka.jars import connector_jars, kafka_home
from headway.engine.spark.session import open_session

# Most JVMs of the tests live for seconds: compiled once and quickly, they need a third less time.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
settings.register_profile("headway", deadline=None, print_blob=True)
settings.load_profile("headway")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local Spark with headway's own settings, a UI, and slots enough for real-time mode."""
    settings = {"spark.sql.shuffle.partitions": "2"}
    settings |= {"spark.ui.enabled": "true", "spark.ui.port": "0"}
    if any(kafka_home().glob("connector/*.jar")):
        settings["spark.jars"] = ",".join(str(jar) for jar in connector_jars())
    session = open_session("local[6]", settings)
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that no worker is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)

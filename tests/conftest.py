"""What several test files share: one Spark for all of them, started when the first one asks."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from headway.engine.spark.session import open_session

# Most JVMs of the tests live for seconds: compiled once and quickly, they need a third less time.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
settings.register_profile("headway", deadline=None, print_blob=True)
settings.load_profile("headway")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local Spark with headway's own settings."""
    session = open_session("local[2]")
    yield session
    session.stop()

"""What several test files share: one Spark for all of them, started when the first one asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from headway.engine.spark.session import open_session

settings.register_profile("headway", deadline=None, print_blob=True)
settings.load_profile("headway")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local Spark with headway's own settings."""
    session = open_session("local[2]")
    yield session
    session.stop()

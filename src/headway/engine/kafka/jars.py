"""The jars of Kafka that set-up has fetched: Spark's connector, and a broker to try things with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

from headway.errors import SessionError

VARIABLE = "HEADWAY_KAFKA"


def kafka_home() -> Path:
    """Where set-up puts the jars; the variable HEADWAY_KAFKA names another place."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(sys.prefix) / "share" / "headway" / "kafka"


def kafka_jars(part: Literal["connector", "broker"]) -> Path:
    """The folder of a part's jars, or an error that says how to get them."""
    found = kafka_home() / part
    if not any(found.glob("*.jar")):
        raise SessionError(
            f"Kafka's jars are not in {found}; install Maven (mvn) and run `make setup`, or set "
            f"{VARIABLE} to a folder that has {part}/*.jar"
        )
    return found


def connector_jars() -> list[Path]:
    """Spark's connector, jar by jar."""
    return sorted(kafka_jars("connector").glob("*.jar"))

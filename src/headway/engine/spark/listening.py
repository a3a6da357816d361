"""Progress events of Spark, passed on to the meters of the queries they belong to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from headway.engine.faults import reached
from headway.engine.spark.meter import Meter

DRAIN_MS = 10_000


class Metered(Protocol):
    """A query with a meter."""

    meter: Meter

    @property
    def run_id(self) -> str:
        """By what progress events name the query."""
        ...


class ProgressListener(StreamingQueryListener):
    """Hands each progress event to its meter."""

    def __init__(self, queries: Sequence[Metered]) -> None:
        self._queries = queries

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Pass the event on."""
        run_id = str(event.progress.runId)
        for query in self._queries:
            if query.run_id == run_id:
                reached("committed")
                query.meter.progress(as_plain(event.progress))
                reached("logged")

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Nothing to do."""

    def drain(self, spark: SparkSession) -> None:
        """Wait until every event that was posted has been passed on."""
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(DRAIN_MS)


def as_plain(progress: StreamingQueryProgress) -> dict[str, Any]:
    """A progress event as plain values; observed metrics keep their bytes."""
    plain: dict[str, Any] = json.loads(progress.json)
    for described in plain["sources"]:
        for name in ("startOffset", "endOffset"):
            if isinstance(described[name], str):
                described[name] = json.loads(described[name])
    plain["observed"] = {name: row.asDict() for name, row in progress.observedMetrics.items()}
    return plain

"""Progress events of Spark, passed on to the meters of the queries they belong to."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Protocol

from pyspark import SparkContext, cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from headway.clock import Clock
from headway.engine.faults import reached
from headway.engine.spark.metering.logbook import Logbook

DRAIN_MS = 10_000


class Metered(Protocol):
    """A query with a meter."""

    @property
    def meter(self) -> Logbook:
        """What keeps its log."""
        ...

    @property
    def run_id(self) -> str:
        """By what progress events name the query."""
        ...

    @property
    def rest_s(self) -> float:
        """How long to leave a batch alone before it is entered in the log."""
        ...


class ProgressListener(StreamingQueryListener):
    """Hands each progress event to its meter."""

    def __init__(self, queries: Sequence[Metered], clock: Clock) -> None:
        self._queries, self._clock = queries, clock
        self._bridge: Any = None

    @property
    def _jlistener(self) -> Any:
        # What PySpark registers with the JVM: its own bridge would read each event field by field.
        if self._bridge is None:
            jvm: Any = SparkContext._jvm
            self._bridge = jvm.PythonStreamingQueryListenerWrapper(Bridge(self._pass_on))
        return self._bridge

    @cached_property
    def _rows(self) -> Any:
        # Looked up once: py4j looks for a name in every jar, in vain for each package it may be in.
        jvm: Any = SparkContext._jvm
        return jvm.PythonSQLUtils

    def _pass_on(self, progress: Any) -> None:
        run_id = str(progress.runId().toString())
        for query in self._queries:
            if query.run_id == run_id:
                reached("committed")
                self._clock.sleep(query.rest_s)
                try:
                    query.meter.progress(as_plain(progress, self._rows))
                except Exception as error:
                    # Spark would only log it, and the run would go on without its account.
                    query.meter.failure = error
                reached("logged")

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Never called: the bridge has its own way."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Nothing to do."""

    def drain(self, spark: SparkSession) -> None:
        """Wait until every event that was posted has been passed on."""
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(DRAIN_MS)


class Bridge:
    """What the JVM calls with its events; the names of its methods are the JVM's.

    A stateful query's event has over a hundred figures, each of them several calls into the JVM; as
    JSON they come in one.
    """

    def __init__(self, pass_on: Callable[[Any], None]) -> None:
        self._pass_on = pass_on

    def onQueryStarted(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: Any) -> None:
        """Pass the progress on."""
        self._pass_on(event.progress())

    def onQueryIdle(self, event: Any) -> None:
        """Nothing to do."""

    def onQueryTerminated(self, event: Any) -> None:
        """Nothing to do."""

    class Java:
        """The interface that py4j lets this class implement."""

        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)


def as_plain(progress: Any, rows: Any) -> dict[str, Any]:
    """The JVM's progress as plain values; what was observed keeps its bytes, as `rows` reads it."""
    plain: dict[str, Any] = json.loads(progress.json())
    for described in plain["sources"]:
        for name in ("startOffset", "endOffset"):
            if isinstance(described[name], str):
                with suppress(ValueError):  # offsets of some sources are text and nothing else
                    described[name] = json.loads(described[name])
    # By its names: at the end of a Java collection PySpark has an exception to understand, and asks
    # of a dozen kinds whether it is one of them, each of which py4j looks for in every jar.
    seen = progress.observedMetrics()
    plain["observed"] = {
        name: cloudpickle.loads(rows.toPyRow(seen[name])).asDict()
        for name in plain.get("observedMetrics", ())
    }
    return plain

"""Attach the meter to a streaming query that headway did not write."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headway.clock import SystemClock
from headway.engine.spark.metering.stages import phases_within, stages_of
from headway.errors import RunError
from headway.measure.watched import Watched, WatchedBatch, batch_phases
from headway.plan.advice import CHANGELOG, PARTITIONS, PROVIDER, advise

EVERY_S = 1.0
SETTINGS = (PROVIDER, CHANGELOG, PARTITIONS)
ON_CONNECT = (
    "under Spark Connect the JVM is out of reach: progress events come through, the stages of a "
    "batch do not, so what lies within addBatch stays unexplained"
)


def watch(query: Any) -> Watching:
    """Watch a `StreamingQuery` of your own: where its batches spend their time, and what to do.

    Works on a classic session in full; under Spark Connect the stages of a batch are not seen.
    """
    if not hasattr(query, "recentProgress") or not hasattr(query, "runId"):
        raise RunError(f"watch takes a StreamingQuery, as start() returns it; got {query!r}")
    return Watching(query)


class Watching:
    """A query that is being watched; `seen` tells what of, `advice` what that supports."""

    def __init__(self, query: Any) -> None:
        self._query, self._clock = query, SystemClock()
        self._connect = "connect" in type(query).__module__
        self._batches: dict[int, WatchedBatch] = {}
        self._settings = {} if self._connect else settings_of(query)
        self._cores = None if self._connect else context_of(query).defaultParallelism
        self._name = str(query.name or query.id)
        self._gone = ""
        self._ending, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._follow, name="headway-watch", daemon=True)
        self._thread.start()

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop watching; the query runs on."""
        self._ending.set()
        self._thread.join()
        self._try_look()

    def seen(self) -> Watched:
        """What was seen so far."""
        self._try_look()
        batches = [self._batches[number] for number in sorted(self._batches)]
        missing = [ON_CONNECT] * self._connect + [self._gone] * bool(self._gone)
        return Watched(self._name, batches, self._settings, self._cores, tuple(missing))

    def advice(self) -> list[str]:
        """What the figures support saying, the most pressing first."""
        return advise(self.seen())

    def _follow(self) -> None:
        while not self._ending.wait(EVERY_S):
            self._try_look()

    def _try_look(self) -> None:
        with self._lock:
            try:
                self._look()
                self._gone = ""
            except Exception as error:  # the query or its Spark is gone; what was seen stays
                self._gone = f"Spark did not answer any more ({type(error).__name__})"

    def _look(self) -> None:
        events = [json.loads(event.json) for event in self._query.recentProgress]
        for progress in events:
            number = int(progress["batchId"])
            if number not in self._batches and progress["durationMs"].get("addBatch") is not None:
                # Of the newest alone: the status store forgets, and each question costs.
                newest = progress is events[-1] and not self._connect
                stages = self._within(progress) if newest else {}
                before = self._batches.get(number - 1)
                self._batches[number] = batch_of(progress, stages, before)

    def _within(self, progress: Mapping[str, Any]) -> dict[str, float]:
        """What the stages of the newest batch were spent on."""
        took = progress["durationMs"]
        begun_s = datetime.fromisoformat(progress["timestamp"]).timestamp()
        ahead = ("latestOffset", "walCommit", "getBatch", "queryPlanning")
        called_us = round(begun_s * 1e6 + sum(took.get(name, 0) for name in ahead) * 1e3)
        computed_us = called_us + round(took["addBatch"] * 1e3)
        stages = [
            stage
            for stage in stages_of(context_of(self._query), str(self._query.runId))
            if called_us - 50_000 <= stage.submitted_us <= computed_us
        ]
        commit_ms = sum(each.get("commitTimeMs", 0) for each in progress["stateOperators"])
        return phases_within(stages, called_us, computed_us, commit_ms / 1e3)


def context_of(query: Any) -> Any:
    """The context of a query on a classic session."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context


def settings_of(query: Any) -> dict[str, str]:
    """The settings that a query took with it when it started."""
    conf = query._jsq.streamingQuery().sparkSessionForStream().conf()
    return {name: str(conf.get(name, "")) for name in SETTINGS}


def batch_of(
    progress: Mapping[str, Any], within: Mapping[str, float], before: WatchedBatch | None
) -> WatchedBatch:
    """A batch as its progress event tells of it."""
    took_s = progress["durationMs"].get("triggerExecution", 0) / 1e3
    started_s = datetime.fromisoformat(progress["timestamp"]).timestamp()
    idle_s = max(0.0, started_s - before.started_s - before.took_s) if before else None
    states = progress["stateOperators"]
    return WatchedBatch(
        int(progress["batchId"]),
        started_s,
        took_s,
        int(progress["numInputRows"]) if "numInputRows" in progress else rows_of(progress),
        idle_s,
        batch_phases(progress["durationMs"], within, took_s),
        sum(int(each.get("numShufflePartitions", 0)) for each in states),
        staged=bool(within),
    )


def rows_of(progress: Mapping[str, Any]) -> int:
    """How many records the sources of a batch had."""
    return sum(int(described["numInputRows"]) for described in progress["sources"])

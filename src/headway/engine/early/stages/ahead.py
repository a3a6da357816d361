"""The next chunk computed while Spark is still at the one before it.

A job of one point is soon done, and a third of its time goes by with a core at rest: it is planned,
its tasks are started, its answer is collected. Where chunks need nothing of each other, the next
job waits in Spark's queue, whose tasks take the cores as they become free: no more of them run at a
time than of one job, and so no more memory is held.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import InheritableThread
from pyspark.errors import PySparkException

from headway.early.chunks import Chunk
from headway.engine.early.stages.fed import Stage
from headway.engine.early.views import collected
from headway.errors import HeadwayError


@dataclass
class Under:
    """A chunk under way: its thread, whether its job is planned, and its rows when they are there.

    Without rows at the end, something failed.
    """

    planned: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    rows: pa.Table | None = None

    def wait(self) -> None:
        if self.thread is not None:
            self.thread.join()


class Ahead:
    """Chunks of a stage under way, each in a thread of its own; their jobs start in order."""

    def __init__(self, stage: Stage, tag: str) -> None:
        self._stage, self._tag = stage, tag
        self._under: dict[Chunk, Under] = {}

    def begin(self, chunk: Chunk) -> None:
        """Compute a chunk from now on, if it is not under way yet."""
        if chunk in self._under:
            return
        before = next(reversed(self._under.values()), None)
        under = self._under[chunk] = Under()
        what = (chunk, under, before)
        under.thread = InheritableThread(target=self._compute, args=what, daemon=True)
        under.thread.start()

    def take(self, chunk: Chunk) -> pa.Table | None:
        """The rows of a chunk, as soon as they are there.

        None if it was never begun, or failed: it fails again where it is computed, and is told
        there.
        """
        under = self._under.pop(chunk, None)
        if under is None:
            return None
        under.wait()
        return under.rows

    def stop(self) -> None:
        """Let go of all that is under way."""
        if self._under:
            self._stage.tables.session.sparkContext.cancelJobsWithTag(self._tag)
        for under in self._under.values():
            under.wait()
        self._under.clear()

    def _compute(self, chunk: Chunk, under: Under, before: Under | None) -> None:
        with suppress(HeadwayError, Py4JError, PySparkException, OSError):
            try:
                self._stage.tables.session.sparkContext.addJobTag(self._tag)
                if before is not None:
                    before.planned.wait()
                frame = self._stage.plan.frame(chunk)
                execution: Any = frame._jdf.queryExecution()
                execution.executedPlan()
            finally:
                under.planned.set()
            under.rows = collected(frame)

"""The next chunk planned while Spark computes the one before it.

To plan a job takes one core, and a job of one point is soon done: where points are answered by jobs
of their own, half of the time would go by with a core at rest.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from headway.early.chunks import Chunk
from headway.engine.early.stages.fed import Stage
from headway.errors import HeadwayError


class Ahead:
    """One chunk of a stage, planned by a thread of its own."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._found: dict[Chunk, DataFrame] = {}
        self._thread: threading.Thread | None = None

    def begin(self, chunk: Chunk) -> None:
        """Plan a chunk from now on."""
        self._thread = threading.Thread(target=self._plan, args=(chunk,), daemon=True)
        self._thread.start()

    def take(self, chunk: Chunk) -> DataFrame | None:
        """The rows of a chunk, not computed yet; None if nobody has planned it."""
        self.wait()
        return self._found.pop(chunk, None)

    def wait(self) -> None:
        """Wait for what is being planned."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _plan(self, chunk: Chunk) -> None:
        # Whatever fails here fails again where the chunk is computed, and is told there.
        with suppress(HeadwayError, Py4JError, PySparkException, OSError):
            frame = self._stage.plan.frame(chunk)
            execution: Any = frame._jdf.queryExecution()
            execution.executedPlan()
            self._found = {chunk: frame}

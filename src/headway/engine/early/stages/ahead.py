"""The next chunk computed while Spark is still at the one before it.

A job of one point is soon done, and half of its time goes by with a core at rest: it is planned,
its tasks are started, its answer is collected. Where chunks need nothing of each other, two of them
share the cores.
"""

from __future__ import annotations

import threading

import pyarrow as pa
from pyspark import InheritableThread

from headway.early.chunks import Chunk
from headway.engine.early.stages.fed import Stage


class Ahead:
    """Chunks of a stage that are being computed, each by a thread of its own."""

    def __init__(self, stage: Stage, tag: str) -> None:
        self._stage, self._tag = stage, tag
        self._running: dict[Chunk, threading.Thread] = {}
        self._found: dict[Chunk, pa.Table | BaseException] = {}

    @property
    def busy(self) -> bool:
        """Whether anything is being computed, or waits to be taken."""
        return bool(self._running)

    def begin(self, chunk: Chunk) -> None:
        """Compute a chunk from now on, if nobody does yet."""
        if chunk not in self._running:
            thread = InheritableThread(target=self._compute, args=(chunk,), daemon=True)
            self._running[chunk] = thread
            thread.start()

    def take(self, chunk: Chunk) -> pa.Table | None:
        """The rows of a chunk, as soon as they are there; None if nobody has begun with it."""
        thread = self._running.pop(chunk, None)
        if thread is None:
            return None
        thread.join()
        found = self._found.pop(chunk)
        if isinstance(found, BaseException):
            raise found
        return found

    def wait(self) -> None:
        """Wait for whatever is being computed, and forget it."""
        for thread in self._running.values():
            thread.join()
        self._running.clear()
        self._found.clear()

    def _compute(self, chunk: Chunk) -> None:
        self._stage.tables.session.sparkContext.addJobTag(self._tag)
        try:
            self._found[chunk] = self._stage.plan.compute(chunk)
        except BaseException as error:  # told to whoever takes the chunk
            self._found[chunk] = error

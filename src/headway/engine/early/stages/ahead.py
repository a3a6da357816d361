"""The next chunk computed while Spark is still at the one before it.

A job of one point is soon done, and for a part of its time a core is at rest: it is planned, its
tasks are started, its answer is collected. Where chunks need nothing of each other, the next job
waits in Spark's queue, whose tasks take the cores as they become free: no more of them run at a
time than there are cores, and the driver holds one more answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pyspark import InheritableThread
from pyspark.sql import SparkSession

from headway.early.chunks import Chunk
from headway.engine.early.views import Work

Made = TypeVar("Made")
OFTEN_S = 0.1  # how often jobs are cancelled while one may still be submitted


@dataclass
class Under(Generic[Made]):
    """A chunk under way: its thread, whether its job is planned, and what came of it."""

    planned: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    rows: Made | None = None
    error: BaseException | None = None

    def wait(self) -> None:
        if self.thread is not None:
            self.thread.join()


class Ahead(Generic[Made]):
    """Chunks of a stage under way, each in a thread of its own; they are planned in order."""

    def __init__(
        self, work: Callable[[Chunk], Work[Made]], session: SparkSession, tag: str
    ) -> None:
        self._work, self._session, self._tag = work, session, tag
        self._under: dict[Chunk, Under[Made]] = {}
        self._stopped = False

    def begin(self, chunk: Chunk) -> None:
        """Compute a chunk from now on, if it is not under way yet."""
        if chunk in self._under:
            return
        before = next(reversed(self._under.values()), None)
        under = self._under[chunk] = Under[Made]()
        what = (chunk, under, before)
        under.thread = InheritableThread(target=self._compute, args=what, daemon=True)
        under.thread.start()

    def take(self, chunk: Chunk) -> Made | None:
        """The rows of a chunk as soon as they are there, or what failed; None if it was not begun.

        Until then it stays under way, so that whoever is interrupted here can still stop it.
        """
        under = self._under.get(chunk)
        if under is None:
            return None
        under.wait()
        if under.error is not None:
            raise under.error
        del self._under[chunk]
        return under.rows

    def stop(self) -> None:
        """Let go of all that is under way, be it planned or computed."""
        self._stopped = True
        threads = [under.thread for under in self._under.values() if under.thread is not None]
        end_jobs(self._session, self._tag, threads)
        self._under.clear()

    def _compute(self, chunk: Chunk, under: Under[Made], before: Under[Made] | None) -> None:
        try:
            try:
                self._session.sparkContext.addJobTag(self._tag)
                if before is not None:
                    before.planned.wait()
                job = self._work(chunk)
                job.plan()
            finally:
                under.planned.set()
            if not self._stopped:
                under.rows = job.rows()
        except BaseException as error:
            under.error = error


def end_jobs(session: SparkSession, tag: str, threads: Iterable[threading.Thread]) -> None:
    """Cancel the jobs with a tag until the threads that submit them are done.

    One that is still planning submits its job later. A Spark that was stopped has no jobs.
    """
    for thread in threads:
        while thread.is_alive():
            if session.sparkContext._jsc is not None:
                session.sparkContext.cancelJobsWithTag(tag)
            thread.join(OFTEN_S)

"""Answers as they come out, and how long each batch took: one measure for headway and Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pyarrow as pa

from headway.clock import Clock


class Collected:
    """A sink that keeps the answers of each batch and its seconds, answers to answers.

    `between` is called after each batch but the last, and its time counts for nobody.
    """

    def __init__(
        self, batches: int, clock: Clock, between: Callable[[], None] = lambda: None
    ) -> None:
        self.batches = batches
        self.tables: list[pa.Table] = []
        self.took_s: list[float] = []
        self.begun, self.complete = threading.Event(), threading.Event()
        self._clock, self._between = clock, between
        self._begun_s = clock.steady_s()

    def __call__(self, batch: int, answers: pa.Table) -> None:
        self.took_s.append(self._clock.steady_s() - self._begun_s)
        self.tables.append(answers)
        self.begun.set()
        if len(self.took_s) >= self.batches:
            self.complete.set()
            return
        self._between()
        self._begun_s = self._clock.steady_s()

    def rows(self) -> pa.Table:
        """All the answers, in the order in which they came out."""
        return pa.concat_tables(self.tables)

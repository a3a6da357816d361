"""Answers as they come out, and when: one measure for headway and for stock Spark alike."""

from __future__ import annotations

import threading

import pyarrow as pa

from headway.clock import Clock


class Collected:
    """A sink that keeps the answers of each batch and the time at which they were out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready = threading.Condition()
        self.tables: list[pa.Table] = []
        self.out_s: list[float] = []

    def __call__(self, batch: int, answers: pa.Table) -> None:
        with self._ready:
            self.tables.append(answers)
            self.out_s.append(self._clock.steady_s())
            self._ready.notify_all()

    def wait_for(self, batches: int, patience_s: float) -> bool:
        """Wait until that many batches are out; False when the time ran out first."""
        with self._ready:
            return self._ready.wait_for(lambda: len(self.out_s) >= batches, patience_s)

    def seconds_after(self, warm_up: int) -> float:
        """From the answers of the last warm-up batch to those of the last batch."""
        return self.out_s[-1] - self.out_s[warm_up - 1]

    def rows(self) -> pa.Table:
        """All the answers, in the order in which they came out."""
        return pa.concat_tables(self.tables)

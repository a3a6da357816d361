"""A batch is timed from answers to answers, and what lies between two turns counts for nobody."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from headway.engine.stock.collected import Collected


class Ticks:
    """A clock that tells the times it is given."""

    def __init__(self, *times_s: float) -> None:
        self._times_s: Iterator[float] = iter(times_s)

    def now_us(self) -> int:
        raise NotImplementedError

    def steady_s(self) -> float:
        return next(self._times_s)

    def sleep(self, seconds: float) -> None:
        raise NotImplementedError


def test_waiting_for_the_others_is_not_timed() -> None:
    waits: list[str] = []
    # begin, out, let go on, out, let go on, out
    clock = Ticks(0.0, 5.0, 7.0, 8.5, 10.0, 10.5)
    collected = Collected(3, clock, lambda: waits.append("turn"))
    for batch in range(3):
        collected(batch, pa.table({"n": [batch]}))
    assert collected.took_s == [5.0, 1.5, 0.5]
    assert collected.rows()["n"].to_pylist() == [0, 1, 2]
    assert len(waits) == 2, "nobody waits after the last batch"


def test_it_is_complete_when_the_last_batch_is_out() -> None:
    collected = Collected(2, Ticks(0.0, 1.0, 1.0, 2.0))
    collected(0, pa.table({"n": [1]}))
    assert not collected.complete.is_set()
    collected(1, pa.table({"n": [1]}))
    assert collected.complete.is_set()

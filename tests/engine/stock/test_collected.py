"""Time is counted from the answers of the last warm-up batch to those of the last batch."""

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


def test_warm_up_batches_are_left_out_of_the_time() -> None:
    collected = Collected(Ticks(5.0, 7.0, 8.5, 10.0))
    for batch in range(4):
        collected(batch, pa.table({"n": [batch]}))
    assert collected.seconds_after(1) == 5.0
    assert collected.seconds_after(2) == 3.0
    assert collected.rows()["n"].to_pylist() == [0, 1, 2, 3]


def test_waiting_ends_when_the_batches_are_out_or_patience_is() -> None:
    collected = Collected(Ticks(1.0))
    assert not collected.wait_for(1, 0.01)
    collected(0, pa.table({"n": [1]}))
    assert collected.wait_for(1, 0.01)

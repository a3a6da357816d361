"""Several times of one record in one number, so that one sketch keeps them together.

A KLL sketch keeps some of the numbers that it was given, each with a weight. Where a number holds
several times of a record, what it keeps is a sample of records: their times add up one by one, and
one sketch costs what one time did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from datasketches import kll_doubles_sketch
from numpy.typing import NDArray

from headway.measure.latency import Latency, sampled

# How many milliseconds have room behind the first time of a number, which has no bound. A double
# holds 53 bits: of a first time of more than nine hours, or six days, the last bits of the last
# time are lost.
SHORT_MS, LONG_MS = 2**14, 2**24


@dataclass(frozen=True, slots=True)
class Together:
    """A weighted sample of records, and of each the same times in seconds."""

    times_s: tuple[NDArray[np.float64], ...]
    weights: NDArray[np.float64]
    low_s: float  # of the first time, over all records
    high_s: float

    @classmethod
    def from_sketch(cls, told: bytes, *rooms: int) -> Together | None:
        """What a sketch of numbers holds, each with room for more times behind the first.

        None where it holds nothing.
        """
        sketch = kll_doubles_sketch.deserialize(told)
        if sketch.is_empty():
            return None
        kept = np.array(list(sketch), dtype=np.float64).reshape(-1, 2)
        times_ms = split(kept[:, 0], rooms)
        ends = np.array([sketch.get_min_value(), sketch.get_max_value()], dtype=np.float64)
        low_s, high_s = split(ends, rooms)[0] / 1e3
        return cls(tuple(times / 1e3 for times in times_ms), kept[:, 1], low_s, high_s)

    def latency(self, which: int = 0) -> Latency:
        """One of the times over all records: of the first one also its ends are exact."""
        found = sampled(self.times_s[which], self.weights)
        return found if which else replace(found, min_s=self.low_s, max_s=self.high_s)


def split(packed: NDArray[np.float64], rooms: Sequence[int]) -> list[NDArray[np.float64]]:
    """The times that numbers hold, the first one first.

    >>> numbers = np.array([7 * 16 * 8 + 5 * 8 + 3, -1 * 16 * 8 + 2 * 8], dtype=float)
    >>> [times.tolist() for times in split(numbers, (16, 8))]
    [[7.0, -1.0], [5.0, 2.0], [3.0, 0.0]]
    """
    found: list[NDArray[np.float64]] = []
    for room in reversed(rooms):
        packed, rest = np.divmod(packed, float(room))
        found.insert(0, rest)
    return [packed, *found]

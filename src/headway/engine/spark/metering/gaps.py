"""How records come: the times between arrivals, from a few records of a batch now and then."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from headway.clock import Clock
from headway.engine.spark.metering.set_aside import Ranges
from headway.engine.topics.port import OpenTopic, Slice
from headway.measure.moments import Moments, between_arrivals

EVERY_S = 5.0
LOOKED_AT = 500  # records up to the end of a batch, of all its partitions together
MOST_PARTITIONS = 16


class GapSample:
    """Reads the last records again and looks when they came; nothing is slowed by it."""

    def __init__(self, topics: Mapping[str, OpenTopic], clock: Clock) -> None:
        self._topics, self._clock = topics, clock
        self._looked_s = -EVERY_S

    def look(self, ranges: Ranges) -> Moments:
        """The moments of the times between arrivals; none between two looks."""
        if self._clock.steady_s() - self._looked_s < EVERY_S:
            return Moments()
        self._looked_s = self._clock.steady_s()
        pieces = [(name, piece) for name, both in ranges.items() for piece in ends_of(*both)]
        pieces = pieces[:MOST_PARTITIONS]
        share = max(2, LOOKED_AT // max(1, len(pieces)))
        try:
            read = [self._arrivals(name, cut(piece, share)) for name, piece in pieces]
        except Exception:  # a topic that is away, or has expired, is no matter of a sample
            return Moments()
        return between_arrivals(read)

    def _arrivals(self, source: str, piece: Slice) -> NDArray[np.int64]:
        read = [records.arrivals_us for records in self._topics[source].read(piece)]
        return np.concatenate(read) if read else np.empty(0, dtype=np.int64)


def ends_of(start: Mapping[str, int], end: Mapping[str, int]) -> list[Slice]:
    """What lies between two positions, a slice for each partition that has records."""
    return [
        Slice(partition, start.get(partition, 0), stop)
        for partition, stop in end.items()
        if stop > start.get(partition, 0)
    ]


def cut(piece: Slice, most: int) -> Slice:
    """The last records up to the end of a slice, also those before it: gaps know no batches.

    >>> cut(Slice("0", 95, 100), 10)
    Slice(partition='0', first=90, stop=100)
    """
    return Slice(piece.partition, max(0, piece.stop - most), piece.stop)

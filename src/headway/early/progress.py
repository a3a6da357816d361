"""Progress points and intervals: when a tuple takes part in the answer (paper 5, section 2.1).

A tuple takes part from its progress-start P+ until just before its progress-end P-. The answer at
point p is the query over the tuples whose interval [P+, P-) contains p, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

FROM = "hw_from"
UNTIL = "hw_until"
FOREVER = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Interval:
    """The points from `start` to just before `end` at which a tuple or an answer holds.

    >>> Interval(10, 20).meet(Interval(15, 25))
    Interval(start=15, end=20)
    """

    start: int
    end: int = FOREVER

    def holds(self, point: int) -> bool:
        """Whether the interval is stabbed by a point."""
        return self.start <= point < self.end

    def meet(self, other: Interval) -> Interval | None:
        """The points that both hold at, or None; what a join gives its rows (section 2.2)."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Interval(start, end) if start < end else None


def coarsen(point: int, by: int) -> int:
    """The batching function P* = floor(P / b): fewer points without annotating again (3.2.1).

    >>> [coarsen(point, by=2) for point in range(5)]
    [0, 0, 1, 1, 2]
    """
    return point // by

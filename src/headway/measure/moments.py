"""The first three moments of times between arrivals and of service, which a queue's model needs.

Paper 1, section 3.2, models a queue as G/G/1 from them. They add up: a run's are the weighted means
of its batches'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

ARRIVALS, SERVICE, RECORD_SERVICE = "between_arrivals_s", "batch_service_s", "record_service_s"


@dataclass(frozen=True, slots=True)
class Moments:
    """How many values there were, and the means of their first, second and third powers."""

    count: int = 0
    first: float = 0.0
    second: float = 0.0
    third: float = 0.0

    @classmethod
    def of(cls, values: NDArray[np.float64] | Sequence[float]) -> Moments:
        """The moments of values at hand.

        >>> Moments.of([1.0, 3.0])
        Moments(count=2, first=2.0, second=5.0, third=14.0)
        """
        found = np.asarray(values, dtype=np.float64)
        if not len(found):
            return cls()
        powers = (float(np.mean(found**power)) for power in (1, 2, 3))
        return cls(len(found), *powers)

    @classmethod
    def together(cls, parts: Iterable[Moments]) -> Moments:
        """The moments of all the values together."""
        known = [part for part in parts if part.count]
        count = sum(part.count for part in known)
        if not count:
            return cls()
        means = (
            sum(part.count * getattr(part, name) for part in known) / count
            for name in ("first", "second", "third")
        )
        return cls(count, *means)

    def faded(self, keep: float) -> Moments:
        """The same moments, counting only by a share of their values."""
        return replace(self, count=round(self.count * keep))

    @property
    def variance(self) -> float:
        """The variance of the values."""
        return max(0.0, self.second - self.first**2)

    @property
    def variation(self) -> float:
        """The squared coefficient of variation: 1 for a Poisson stream, 0 for a clock."""
        return self.variance / self.first**2 if self.first else 0.0

    def as_dict(self) -> dict[str, float]:
        """The figures as the log keeps them."""
        return {
            "count": self.count, "first": self.first, "second": self.second, "third": self.third,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, figures: dict[str, float]) -> Moments:
        """Read what the log has kept."""
        powers = (float(figures[name]) for name in ("first", "second", "third"))
        return cls(int(figures["count"]), *powers)


def between_arrivals(streams: Sequence[NDArray[np.int64]]) -> Moments:
    """The moments of the times between arrivals, in seconds, of streams that are one together.

    Each stream is a run of consecutive arrivals of one partition. Only the time that all of them
    cover counts: before and after it some records of the others are missing.

    >>> import numpy as np
    >>> between_arrivals([np.array([0, 20, 40]), np.array([10, 30, 50])]).first * 1e6
    10.0
    """
    known = [np.sort(stream) for stream in streams if len(stream) > 1]
    if not known:
        return Moments()
    low, high = max(each[0] for each in known), min(each[-1] for each in known)
    merged = np.sort(np.concatenate(known))
    return Moments.of(np.diff(merged[(merged >= low) & (merged <= high)]) / 1e6)

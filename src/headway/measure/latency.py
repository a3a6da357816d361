"""Latency of many records as a small summary: moments, and quantiles from a KLL sketch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from datasketches import kll_doubles_sketch
from numpy.typing import NDArray

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
SKETCH_K = 1_000  # rank error about 0.3 %, so that a p99 means the 99th percentile
# The shares of records between which a line of the log keeps a latency: closely in the tail.
STEPS = np.concatenate(
    [np.linspace(0, 0.9, 31), np.linspace(0.9, 0.99, 19)[1:], np.linspace(0.99, 1, 21)[1:]]
)
# Where a sketch is read: closely at both ends, since a tail is what goals are about.
RANKS = np.concatenate(
    [np.linspace(0, 0.05, 200), np.linspace(0.05, 0.95, 400)[1:], np.linspace(0.95, 1, 200)[1:]]
)


@dataclass(frozen=True, slots=True)
class Latency:
    """A weighted sample of latencies in seconds, with exact count, mean, variance and maximum.

    Latencies add up: the sum of two has their counts together and a mean in between.
    """

    count: int
    mean_s: float
    variance_s2: float
    min_s: float
    max_s: float
    values_s: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def none(cls) -> Latency:
        """No record at all."""
        empty = np.empty(0)
        return cls(0, 0.0, 0.0, 0.0, 0.0, empty, empty)

    @classmethod
    def of(cls, measured_s: Iterable[float] | NDArray[np.float64]) -> Latency:
        """The latency of records that are all at hand."""
        values = np.sort(np.asarray(list(measured_s) if not isinstance(measured_s, np.ndarray)
                                    else measured_s, dtype=np.float64))  # fmt: skip
        if not len(values):
            return cls.none()
        weights = np.ones(len(values))
        sample, counts = thin(values, weights)
        return cls(len(values), float(values.mean()), float(values.var()), float(values[0]),
                   float(values[-1]), sample, counts)  # fmt: skip

    @classmethod
    def since_arrivals(cls, arrivals: ArrivalSketch, answered_us: int) -> Latency:
        """The latency of records that were all answered at one instant.

        In a micro-batch every record is answered when the batch is published, so the sketch of
        arrival times that Spark made, mirrored at that instant, is the sketch of latencies.
        """
        if not arrivals.count:
            return cls.none()
        values, weights = arrivals.items()
        return cls(
            arrivals.count,
            (answered_us - arrivals.mean_us) / 1e6,
            arrivals.variance_us2 / 1e12,
            (answered_us - arrivals.max_us) / 1e6,
            (answered_us - arrivals.min_us) / 1e6,
            ((answered_us - values) / 1e6)[::-1],
            weights[::-1],
        )

    def __add__(self, other: Latency) -> Latency:
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        share = other.count / count
        mean = self.mean_s + (other.mean_s - self.mean_s) * share
        spread = (self.mean_s - other.mean_s) ** 2 * share * (1 - share)
        variance = self.variance_s2 * (1 - share) + other.variance_s2 * share + spread
        values = np.concatenate([self.values_s, other.values_s])
        weights = np.concatenate([self.weights, other.weights])
        order = np.argsort(values, kind="stable")
        sample, counts = thin(values[order], weights[order])
        return Latency(count, mean, variance, min(self.min_s, other.min_s),
                       max(self.max_s, other.max_s), sample, counts)  # fmt: skip

    def quantile(self, q: float) -> float:
        """The latency that a share `q` of the records did not exceed."""
        if not self.count:
            return 0.0
        reached = np.cumsum(self.weights)
        place = int(np.searchsorted(reached, q * reached[-1] * (1 - 1e-12)))
        found = self.values_s[min(place, len(self.values_s) - 1)]
        return float(min(max(found, self.min_s), self.max_s))

    def steps(self) -> list[float]:
        """The latency in the middle of each of STEPS: enough to add runs up, small in a log."""
        if not self.count:
            return []
        return [round(self.quantile(q), 6) for q in (STEPS[1:] + STEPS[:-1]) / 2]

    @classmethod
    def from_steps(cls, figures: dict[str, float | int], steps: list[float]) -> Latency:
        """The latency that `as_dict` and `steps` described."""
        count = int(figures.get("count", 0))
        if not count:
            return cls.none()
        mean, variance, low, high = (float(figures[n]) for n in ("mean", "variance", "min", "max"))
        values = np.asarray(steps, dtype=np.float64)
        return cls(count, mean, variance, low, high, values, np.diff(STEPS) * count)

    def as_dict(self) -> dict[str, float | int]:
        """The figures by name, as the log and the commands print them."""
        figures = {name: round(self.quantile(q), 6) for name, q in QUANTILES.items()}
        return {
            "count": self.count,
            "mean": round(self.mean_s, 6),
            "variance": round(self.variance_s2, 9),
            "min": round(self.min_s, 6),
            **figures,
            "max": round(self.max_s, 6),
        }


def thin(
    values: NDArray[np.float64], weights: NDArray[np.float64], keep: int = 20_000
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut a sorted weighted sample down to about `keep` values of the same total weight."""
    if len(values) <= keep:
        return values, weights
    group = np.arange(len(values)) * keep // len(values)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(values)) - 1
    return values[ends], np.add.reduceat(weights, starts)


@dataclass(frozen=True, slots=True)
class ArrivalSketch:
    """What Spark's `observe()` saw of the arrival times of one batch."""

    count: int
    mean_us: float
    variance_us2: float
    min_us: float
    max_us: float
    sketch: bytes

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> ArrivalSketch:
        """Read the observed metrics; a batch without records has none of them."""
        count = int(row["count"] or 0)
        if not count:
            return cls(0, 0.0, 0.0, 0.0, 0.0, b"")
        return cls(count, float(row["mean"]), float(row["variance"]), float(row["min"]),
                   float(row["max"]), bytes(row["sketch"]))  # fmt: skip

    def items(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Arrival times in order, with the number of records that each stands for."""
        sketch = kll_doubles_sketch.deserialize(self.sketch)
        middles = (RANKS[1:] + RANKS[:-1]) / 2
        values = np.asarray(sketch.get_quantiles(middles), dtype=np.float64)
        return values, np.diff(RANKS) * self.count

"""Latency of many records as a small summary: moments, and quantiles from a KLL sketch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
MIDDLES = (STEPS[1:] + STEPS[:-1]) / 2  # the ranks at which a step tells of the latency
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
    def later(cls, ages: Ages | None, after_s: float) -> Latency:
        """The latency of records that were all answered `after_s` after their ages were taken.

        In a micro-batch every record is answered when the batch is published, so the sketch of
        ages, moved to that instant, is the sketch of latencies.
        """
        if ages is None:
            return cls.none()
        sketch = kll_doubles_sketch.deserialize(ages.sketch)
        count = int(sketch.n)
        mean = ages.sum_s / count
        values = np.asarray(sketch.get_quantiles((RANKS[1:] + RANKS[:-1]) / 2), dtype=np.float64)
        return cls(
            count,
            mean + after_s,
            max(0.0, ages.squares_s2 / count - mean**2),
            float(sketch.get_min_value()) + after_s,
            float(sketch.get_max_value()) + after_s,
            values + after_s,
            np.diff(RANKS) * count,
        )

    @classmethod
    def together(cls, parts: Iterable[Latency]) -> Latency:
        """All the latencies as one; many at once cost no more than their values, sorted once."""
        known = [part for part in parts if part.count]
        if len(known) < 2:
            return known[0] if known else cls.none()
        counts = np.array([part.count for part in known], dtype=np.float64)
        means = np.array([part.mean_s for part in known])
        within = np.array([part.variance_s2 for part in known])
        mean = float(np.average(means, weights=counts))
        variance = float(np.average(within + (means - mean) ** 2, weights=counts))
        values = np.concatenate([part.values_s for part in known])
        weights = np.concatenate([part.weights for part in known])
        order = np.argsort(values, kind="stable")
        sample, kept = thin(values[order], weights[order])
        low, high = min(part.min_s for part in known), max(part.max_s for part in known)
        return cls(int(counts.sum()), mean, variance, low, high, sample, kept)

    @classmethod
    def same(cls, seconds: float, count: int) -> Latency:
        """So many records with one latency."""
        if not count:
            return cls.none()
        one = np.array([seconds], dtype=np.float64)
        return cls(count, seconds, 0.0, seconds, seconds, one, np.array([float(count)]))

    def __add__(self, other: Latency) -> Latency:
        return Latency.together((self, other))

    def moved(self, by_s: float) -> Latency:
        """The same latencies, all later by so much."""
        if not self.count:
            return self
        return Latency(
            self.count, self.mean_s + by_s, self.variance_s2, self.min_s + by_s, self.max_s + by_s,
            self.values_s + by_s, self.weights,
        )  # fmt: skip

    def spread_over(self, unit_s: float) -> Latency:
        """The same latencies, which are known in whole units, each anywhere within half a unit.

        Of a few milliseconds in whole ones, the middle would be off by up to a tenth.

        >>> Latency.of([0.003, 0.004, 0.004]).spread_over(0.001).values_s.tolist()
        [0.003, 0.00375, 0.00425]
        """
        units = np.round(self.values_s / unit_s)
        first, last = (np.searchsorted(units, units, side=side) for side in ("left", "right"))
        reached = np.concatenate([[0.0], np.cumsum(self.weights)])
        place = (reached[:-1] + self.weights / 2 - reached[first]) / (
            reached[last] - reached[first]
        )
        return replace(self, values_s=(units + place - 0.5) * unit_s)

    def before(self, instant_s: float) -> Latency:
        """How long before an instant each of these values, taken as times, lies.

        >>> came = Latency.of([1.0, 4.0]).before(5.0)
        >>> came.values_s.tolist(), came.min_s, came.mean_s
        ([1.0, 4.0], 1.0, 2.5)
        """
        if not self.count:
            return self
        return Latency(
            self.count, instant_s - self.mean_s, self.variance_s2, instant_s - self.max_s,
            instant_s - self.min_s, instant_s - self.values_s[::-1], self.weights[::-1],
        )  # fmt: skip

    def not_negative(self) -> Latency:
        """The same latencies, those below zero taken to be zero; the mean is the sample's then."""
        if self.min_s >= 0:
            return self
        found = sampled(np.maximum(self.values_s, 0.0), self.weights)
        return replace(found, count=self.count, min_s=0.0, max_s=max(0.0, self.max_s))

    def quantile(self, q: float) -> float:
        """The latency that a share `q` of the records did not exceed."""
        return float(self.quantiles([q])[0])

    def quantiles(self, shares: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """The latencies that shares of the records did not exceed: many cost little more than one.

        >>> Latency.of([1.0, 2.0, 3.0, 4.0]).quantiles([0.25, 0.5, 1.0]).tolist()
        [1.0, 2.0, 4.0]
        """
        if not self.count:
            return np.zeros(len(shares))
        reached = np.cumsum(self.weights)
        places = np.searchsorted(reached, np.asarray(shares) * reached[-1] * (1 - 1e-12))
        found = self.values_s[np.minimum(places, len(self.values_s) - 1)]
        return np.asarray(np.clip(found, self.min_s, self.max_s))

    def steps(self) -> list[float]:
        """The latency in the middle of each of STEPS: enough to add runs up, small in a log."""
        if not self.count:
            return []
        return [round(found, 6) for found in self.quantiles(MIDDLES).tolist()]

    @classmethod
    def from_steps(cls, figures: dict[str, float | int], steps: list[float]) -> Latency:
        """The latency that `as_dict` and `steps` described."""
        count = int(figures.get("count", 0))
        mean, variance, low, high = (float(figures[n]) for n in ("mean", "variance", "min", "max"))
        values = np.asarray(steps, dtype=np.float64)
        return cls(count, mean, variance, low, high, values, np.diff(STEPS) * count)

    def as_dict(self) -> dict[str, float | int]:
        """The figures by name, as the log and the commands print them."""
        found = self.quantiles(list(QUANTILES.values())).tolist()
        figures = {name: round(value, 6) for name, value in zip(QUANTILES, found, strict=True)}
        return {
            "count": self.count,
            "mean": round(float(self.mean_s), 6),
            "variance": round(float(self.variance_s2), 9),
            "min": round(float(self.min_s), 6),
            **figures,
            "max": round(float(self.max_s), 6),
        }


def sampled(values: NDArray[np.float64], weights: NDArray[np.float64]) -> Latency:
    """The latency of records of which some are known, each standing for so many.

    >>> found = sampled(np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    >>> found.count, found.mean_s, found.values_s.tolist()
    (4, 1.5, [1.0, 3.0])
    """
    mean = float(np.average(values, weights=weights))
    variance = float(np.average((values - mean) ** 2, weights=weights))
    order = np.argsort(values, kind="stable")
    low, high = float(values.min()), float(values.max())
    count = round(float(weights.sum()))
    return Latency(count, mean, variance, low, high, values[order], weights[order])


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
class Ages:
    """How long records had waited at one instant: moments, and a KLL sketch of all of them.

    `blank` counts the places between them that hold no record.

    Made by each task that reads, of all that it has read, and put together by the driver.
    """

    sum_s: float
    squares_s2: float
    sketch: bytes
    blank: int = 0

    @classmethod
    def from_rows(cls, rows: Sequence[Any]) -> Ages | None:
        """Put together what tasks have told, each by name; None for a batch without records."""
        if len(rows) == 1:
            return cls(*(rows[0][name] for name in ("sum", "squares", "sketch", "blank")))
        if not rows:
            return None
        sketch = kll_doubles_sketch(SKETCH_K)
        for row in rows:
            sketch.merge(kll_doubles_sketch.deserialize(bytes(row["sketch"])))
        total, squares, blank = (
            sum(row[name] for row in rows) for name in ("sum", "squares", "blank")
        )
        return cls(total, squares, sketch.serialize(), blank)


class AgesTally:
    """Takes the ages of records, block by block, and tells them as one."""

    def __init__(self, instant_us: int) -> None:
        self._instant_us = instant_us
        self._sum_s = self._squares_s2 = 0.0
        self._sketch = kll_doubles_sketch(SKETCH_K)

    def add(self, arrivals_us: NDArray[np.int64]) -> None:
        """Take records more."""
        ages = (self._instant_us - arrivals_us) / 1e6
        self._sum_s += float(ages.sum())
        self._squares_s2 += float(ages @ ages)
        self._sketch.update(ages)

    def told(self, blank: int = 0) -> Ages:
        """All of them."""
        return Ages(self._sum_s, self._squares_s2, self._sketch.serialize(), blank)

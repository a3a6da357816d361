"""The latency of a window: its last record over all mappers, then the answers one after another.

Paper 1, section 3.3: L = U + F. U is the maximum over the mappers of the latency of the last record
that each sends, F where in the run of `finalize` over all keys the answer of one key comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, fmean, pstdev

POINTS = 20_000  # of the distribution of a maximum


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean and a variance."""

    mean_s: float
    variance_s2: float

    def __add__(self, other: Spread) -> Spread:
        return Spread(self.mean_s + other.mean_s, self.variance_s2 + other.variance_s2)


@lru_cache(maxsize=256)
def largest_of(count: int) -> tuple[float, float]:
    """a and a': mean and deviation of the largest of `count` standard normal values.

    By the quantile function over the ranks of a maximum: P(max <= Phi^-1(r)) = r^count.

    >>> a, spread = largest_of(2)
    >>> round(a, 3), round(spread, 3)
    (0.564, 0.826)
    """
    standard = NormalDist()
    values = [standard.inv_cdf(((n + 0.5) / POINTS) ** (1.0 / count)) for n in range(POINTS)]
    return fmean(values), pstdev(values)


def last_record(tuple_s: Spread, mappers: int) -> Spread:
    """U: E = mu + a sigma, Var = (a' sigma)^2, the latest of one record from each mapper."""
    a, deviation = largest_of(mappers)
    sigma = tuple_s.variance_s2**0.5
    return Spread(tuple_s.mean_s + a * sigma, (deviation * sigma) ** 2)


def finalize(keys: int, each_s: float) -> Spread:
    """F: E = (1 + 1/k)(t2 - t1) / 2, Var = (1 - 1/k^2)(t2 - t1)^2 / 12, with t2 - t1 = k s_k.

    >>> finalize(1, 0.2).mean_s, finalize(1, 0.2).variance_s2
    (0.2, 0.0)
    """
    if keys < 1:
        return Spread(0.0, 0.0)
    whole_s = keys * each_s
    return Spread((1 + 1 / keys) * whole_s / 2, (1 - 1 / keys**2) * whole_s**2 / 12)


def window_latency(tuple_s: Spread, mappers: int, keys: int, finalize_s: float) -> Spread:
    """L = U + F."""
    return last_record(tuple_s, mappers) + finalize(keys, finalize_s)

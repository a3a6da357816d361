"""From mean and variance to any quantile (paper 1, section 3.4)."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def normal_s(share: float, mean_s: float, variance_s2: float) -> float:
    """Where a latency is known to be about normal: mu + sigma Phi^-1(x).

    >>> round(normal_s(0.5, 1.0, 0.04), 3)
    1.0
    """
    return mean_s + sqrt(variance_s2) * NormalDist().inv_cdf(share)


def cantelli_s(share: float, mean_s: float, variance_s2: float) -> float:
    """Where nothing is known of its shape: mu + sqrt(x / (1 - x)) sigma, an upper bound (eq. 4).

    >>> round(cantelli_s(0.99, 1.0, 0.01), 3)
    1.995
    """
    return mean_s + sqrt(share / (1 - share) * variance_s2)

"""How long work waits for a server: G/G/1 by moments, D/G/1 by its recursion, pauses as vacations.

Paper 1, section 3.2, takes the delay of a queue from the moments of the times between arrivals and
of the service times. What is used here, and when it holds:

- `mean_wait_s`: Krämer and Langenbach-Belz. Exact for Poisson arrivals, within a few percent of
  simulations for regular ones at loads above a half; it never exceeds Kingman's bound.
- `bound_wait_s`: Kingman. An upper bound for any G/G/1 queue that is stable; tight as load nears 1.
- `wait_variance_s2`: exact for Poisson arrivals (Takács), which is where the third moment of the
  service comes in; for others its coefficient of variation is kept and the mean is theirs, which
  lies within a third of simulations.
- `clocked_wait`: D/G/1, by Lindley's recursion on a grid: exact up to the grid, any service time.
- `vacation`: a server that is away for a while at fixed intervals, as a fluid: holds when many
  records come during a pause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from headway.measure.moments import Moments

GRID = 512  # points of a waiting time's distribution
ROUNDS = 4_000  # of the recursion, at most
SETTLED = 1e-9


def load_of(arrivals: Moments, service: Moments) -> float:
    """rho: the share of its time that the server works; 1 or more means that it falls behind."""
    return service.first / arrivals.first if arrivals.first else float("inf")


def bound_wait_s(arrivals: Moments, service: Moments) -> float:
    """Kingman: E(W) <= lambda (var_a + var_s) / (2 (1 - rho))."""
    rho = load_of(arrivals, service)
    if rho >= 1:
        return float("inf")
    return (arrivals.variance + service.variance) / (2 * arrivals.first * (1 - rho))


def mean_wait_s(arrivals: Moments, service: Moments) -> float:
    """Krämer and Langenbach-Belz: E(W) = s rho / (1 - rho) (ca2 + cs2) / 2 g(rho, ca2, cs2)."""
    rho, ca2, cs2 = load_of(arrivals, service), arrivals.variation, service.variation
    if rho >= 1:
        return float("inf")
    if rho <= 0 or ca2 + cs2 <= 0:
        return 0.0
    if ca2 <= 1:
        bent = exp(-2 * (1 - rho) / (3 * rho) * (1 - ca2) ** 2 / (ca2 + cs2))
    else:
        bent = exp(-(1 - rho) * (ca2 - 1) / (ca2 + 4 * cs2))
    return service.first * rho / (1 - rho) * (ca2 + cs2) / 2 * bent


def wait_variance_s2(arrivals: Moments, service: Moments) -> float:
    """Takács: Var(W) = lambda E(S^3) / (3 (1 - rho)) + E(W)^2, scaled to the mean of this queue."""
    rho = load_of(arrivals, service)
    if rho >= 1:
        return float("inf")
    poisson_s = service.second / (2 * arrivals.first * (1 - rho))
    if poisson_s <= 0:
        return 0.0
    variance = service.third / (3 * arrivals.first * (1 - rho)) + poisson_s**2
    return variance / poisson_s**2 * mean_wait_s(arrivals, service) ** 2


def clocked_wait(service_s: Sequence[float], interval_s: float) -> NDArray[np.float64]:
    """D/G/1: quantiles of the wait of work that comes by the clock, evenly apart in rank.

    Lindley: W' = max(0, W + S - T). `service_s` is a sample of the service times.
    """
    service = np.asarray(service_s, dtype=np.float64)
    if service.mean() >= interval_s:
        return np.full(GRID, np.inf)
    steps = service - interval_s
    if steps.max() <= 0:
        return np.zeros(GRID)
    waits = np.zeros(GRID)
    ranks = (np.arange(GRID) + 0.5) / GRID
    for _ in range(ROUNDS):
        reached = np.sort(np.maximum(0.0, waits[:, None] + steps[None, :]), axis=None)
        moved = reached[(ranks * len(reached)).astype(np.int64)]
        if float(np.abs(moved - waits).mean()) < SETTLED * interval_s:
            return moved
        waits = moved
    return waits


@dataclass(frozen=True, slots=True)
class Vacation:
    """What a server's regular pauses cost: a share of records waits, up to the whole pause.

    A pause of P every T lets records pile up; the server then works them off while others come. One
    that came u after the pause began waits P - u (1 - rho), until u = P / (1 - rho). So the share
    P / ((1 - rho) T) waits, evenly between nothing and P.
    """

    share: float
    longest_s: float

    @property
    def mean_s(self) -> float:
        """E = P^2 / (2 (1 - rho) T)."""
        return self.share * self.longest_s / 2

    @property
    def variance_s2(self) -> float:
        """Var = share P^2 / 3 - E^2."""
        return self.share * self.longest_s**2 / 3 - self.mean_s**2


def vacation(pause_s: float, every_s: float, rho: float) -> Vacation:
    """The cost of a pause at fixed intervals.

    >>> vacation(pause_s=0.5, every_s=10.0, rho=0.5).share
    0.1
    """
    if rho >= 1:
        return Vacation(1.0, float("inf"))
    share = pause_s / ((1 - rho) * every_s)
    return Vacation(min(1.0, share), pause_s if share < 1 else float("inf"))

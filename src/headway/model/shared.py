"""Resources that many threads share: how long a piece of work takes on what the others leave.

Paper 1, section 3.2: the time of a batch is u / v, with u what it needs and v what there is for it;
the other threads are taken to go first, so that the prediction errs on the safe side.
"""

from __future__ import annotations

from collections.abc import Sequence


def time_s(needed: float, capacity: float, taken_share: float) -> float:
    """u / v with v = (1 - p) V: how long `needed` takes on what others leave of a resource.

    >>> time_s(needed=10.0, capacity=100.0, taken_share=0.5)
    0.2
    """
    left = (1.0 - taken_share) * capacity
    return needed / left if left > 0 else float("inf")


def cpu_s(needed_s: float, cores: int, taken_share: float) -> float:
    """Equation 2, for a whole batch: u / (min(1 - p, 1 / n) C), C being the cores together.

    One thread has one core at most, and less when the others leave less.

    >>> cpu_s(needed_s=0.3, cores=4, taken_share=0.5)
    0.3
    >>> cpu_s(needed_s=0.3, cores=2, taken_share=0.75)
    0.6
    """
    return time_s(needed_s, float(cores), 1.0 - min(1.0 - taken_share, 1.0 / cores))


def half_batch_s(batch_s: float) -> float:
    """Equation 2: a tuple stands anywhere in its batch, so it waits for half of it."""
    return batch_s / 2


def taken_by_others(rates: Sequence[float], own: int, cores: int) -> float:
    """p: the share of the cores that all threads but one's `own` need, from core-seconds a second.

    >>> taken_by_others([0.5, 0.3, 0.2], own=0, cores=2)
    0.25
    """
    return min(1.0, (sum(rates) - rates[own]) / cores)

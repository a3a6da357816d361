"""How latencies are spread: the share of records in each of a few dozen equal steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headway.dashboard.draw.scales import nice_step
from headway.measure.latency import Latency

BINS = 64


@dataclass(frozen=True, slots=True)
class Distribution:
    """Shares of the records by latency; step i begins at ``i * step_s`` and is `step_s` long."""

    step_s: float
    shares: tuple[float, ...]

    @property
    def end_s(self) -> float:
        """The latency at which the last step ends."""
        return self.step_s * len(self.shares)


def distribution_of(latency: Latency, show_s: float | None = None) -> Distribution:
    """The distribution from 0 to the slowest record, or to `show_s` where that is not far off."""
    if not latency.count:
        return Distribution(1.0, ())
    end_s = latency.max_s
    if show_s is not None and end_s < show_s <= 4 * end_s:
        end_s = show_s
    step_s = nice_step(max(end_s, 1e-6), BINS)
    count = int(end_s / step_s) + 1
    edges = np.arange(count + 1) * step_s
    found, _ = np.histogram(latency.values_s, bins=edges, weights=latency.weights)
    total = float(latency.weights.sum())
    return Distribution(step_s, tuple(float(weight) / total for weight in found))

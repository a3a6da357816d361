"""What is foretold of a candidate under a load: phases, a distribution, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headway.flow.goals import Goal
from headway.measure.latency import MIDDLES
from headway.model.candidate import Candidate, Load

# The ranks at which a foretold latency is kept: those of a measured one.
RANKS: NDArray[np.float64] = MIDDLES


@dataclass(frozen=True, slots=True)
class Prediction:
    """A candidate under a load.

    phases_s         mean time of a record in each phase of the meter's; they add up to mean_s
    mean_s           mean latency of a record, variance_s2 its variance
    steps_s          latency of a record at each of RANKS
    window_mean_s    mean latency of a window, window_steps_s at each of RANKS
    saturation_per_s the rate at which the candidate falls behind
    load             the share of its capacity that is used
    core_s           core-seconds that a million records cost
    margin           how far, relative to it, the truth may lie from a predicted value
    """

    candidate: Candidate
    under: Load
    phases_s: Mapping[str, float]
    mean_s: float
    variance_s2: float
    steps_s: tuple[float, ...]
    saturation_per_s: float
    load: float
    core_s: float
    margin: float
    window_mean_s: float = 0.0
    window_steps_s: tuple[float, ...] = field(default=())

    @property
    def stable(self) -> bool:
        """Whether the candidate keeps up."""
        return self.load < 1 and bool(np.isfinite(self.mean_s))

    def of(self, goal: Goal) -> float:
        """The value that a goal is about."""
        if not self.stable:
            return float("inf")
        windows = goal.per == "window"
        if goal.quantile is None:
            return self.window_mean_s if windows else self.mean_s
        return self.quantile_s(goal.quantile, windows)

    def quantile_s(self, share: float, windows: bool = False) -> float:
        """The latency that a share of the records, or windows, does not exceed."""
        steps = self.window_steps_s if windows else self.steps_s
        return float(np.interp(share, RANKS, steps)) if steps else float("inf")

    def late_share(self, goal: Goal) -> float:
        """The share of records, or windows, that come later than the goal's limit."""
        if not self.stable:
            return 1.0
        steps = self.window_steps_s if goal.per == "window" else self.steps_s
        return 1.0 - float(np.interp(goal.limit_s, steps, RANKS, left=0.0, right=1.0))

    def between(self, goal: Goal) -> tuple[float, float]:
        """The interval in which the truth is expected."""
        value = self.of(goal)
        return value / (1 + self.margin), value * (1 + self.margin)


def hopeless(candidate: Candidate, under: Load, saturation_per_s: float) -> Prediction:
    """The prediction for a candidate that cannot keep up."""
    inf = float("inf")
    load = under.rate_per_s / saturation_per_s if saturation_per_s else inf
    return Prediction(
        candidate, under, {}, inf, inf, (), saturation_per_s, max(load, 1.0), inf, 0.0
    )

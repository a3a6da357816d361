"""When each record of a replayed topic is due: an open-loop schedule of rates."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from headway.errors import FlowError
from headway.units import Duration, parse_duration

Rate = float | int | Sequence[tuple[Duration, float]] | None


@dataclass(frozen=True, slots=True)
class RateSchedule:
    """Rates per second, each for a while, the last for ever; an empty one means all at once."""

    steps: tuple[tuple[float, float], ...] = ()  # (seconds, records per second)

    def due_by(self, elapsed_s: float) -> int | None:
        """How many records are due `elapsed_s` after the start; None when all of them are.

        Record n is due once ``elapsed_s >= due_s(n)``: an open loop, however late anyone reads.

        >>> parse_rate(100).due_by(0.05), parse_rate([("1s", 10), ("1s", 100)]).due_by(1.5)
        (6, 61)
        """
        if not self.steps:
            return None
        if elapsed_s < 0:
            return 0
        count = int(np.searchsorted(self._starts_s(), elapsed_s, side="right")) - 1
        begun_s, begun = self._starts_s()[count], self._begun()[count]
        return int(begun + (elapsed_s - begun_s) * self.steps[count][1] + 1e-9) + 1

    def count_in(self, seconds: float) -> int:
        """How many records fall due in the first seconds; none where there is no rate.

        >>> parse_rate(100).count_in(0.05), RateSchedule().count_in(1.0)
        (6, 0)
        """
        return self.due_by(seconds) or 0

    def due_us(self, first: int, stop: int) -> NDArray[np.int64]:
        """When records `first` to `stop` are due, in microseconds after the start."""
        numbers = np.arange(first, stop, dtype=np.float64)
        if not self.steps:
            return np.zeros(stop - first, dtype=np.int64)
        begun = self._begun()
        place = np.searchsorted(begun, numbers, side="right") - 1
        rates = np.array([rate for _, rate in self.steps])
        due_s = (
            np.array(self._starts_s())[place] + (numbers - np.array(begun)[place]) / rates[place]
        )
        return np.asarray(np.round(due_s * 1e6), dtype=np.int64)

    def rate_at(self, elapsed_s: float) -> float:
        """Records per second that fall due around `elapsed_s`; 0 when all fall due at once."""
        if not self.steps:
            return 0.0
        return self.steps[max(0, bisect.bisect_right(self._starts_s(), elapsed_s) - 1)][1]

    def _starts_s(self) -> list[float]:
        return [0.0, *accumulate(seconds for seconds, _ in self.steps[:-1])]

    def _begun(self) -> list[float]:
        return [0.0, *accumulate(seconds * rate for seconds, rate in self.steps[:-1])]


def parse_rate(rate: Rate) -> RateSchedule:
    """Read a rate: a number per second, a schedule ``[("10s", 5000), ("5s", 40000)]``, or None."""
    if rate is None:
        return RateSchedule()
    steps = [("1s", rate)] if isinstance(rate, int | float) else list(rate)
    if not steps:
        raise FlowError("a rate schedule needs at least one step such as ('10s', 5000)")
    parsed = []
    for length, per_s in steps:
        if not 0 < per_s < math.inf:
            raise FlowError(f"a rate must be positive and finite; got {per_s!r}")
        parsed.append((parse_duration(length, "length of a rate step"), float(per_s)))
    return RateSchedule(tuple(parsed))

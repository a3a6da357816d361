"""A straight line through measured points, kept as sums, so that it learns and forgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import exp, log, log2

FORGOTTEN = 1e-3  # of the weight of what is known best
SMALL = 5_000.0  # up to about this many records each point counts alike; beyond, by its share


@dataclass(frozen=True, slots=True)
class Fit:
    """Sums over points (x, y) with weights w; the line is found from them when it is asked for.

    Costs are never negative and do not fall as batches grow, so neither does the line.
    """

    points: float = 0.0
    w: float = 0.0
    wx: float = 0.0
    wy: float = 0.0
    wxx: float = 0.0
    wxy: float = 0.0

    def seen(self, x: float, y: float, weight: float | None = None) -> Fit:
        """The fit with one more point.

        What disturbs a batch makes it longer by a share, so large ones lie further from the line,
        and count less by that: about so many records cost as much as what is fixed does.
        """
        w = 1 / (1 + x / SMALL) ** 2 if weight is None else weight
        more = (1.0, w, w * x, w * y, w * x * x, w * x * y)
        return Fit(*(own + added for own, added in zip(self._sums(), more, strict=True)))

    def together(self, other: Fit, keep: float = 1.0) -> Fit:
        """Both fits as one, this one remembered only by the share `keep`."""
        both = zip(self._sums(), other._sums(), strict=True)
        return Fit(*(own * keep + more for own, more in both))

    def faded(self, keep: float) -> Fit:
        """The same points, counting only by a share."""
        return Fit(*(own * keep for own in self._sums()))

    def _sums(self) -> tuple[float, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def line(self) -> tuple[float, float]:
        """What is fixed, and what each x adds.

        >>> Fit().seen(0, 1.0).seen(10, 3.0).line
        (1.0, 0.2)
        """
        if not self.w:
            return 0.0, 0.0
        spread = self.w * self.wxx - self.wx**2
        if spread <= 1e-12 * max(self.w * self.wxx, 1e-300):
            return self.wy / self.w, 0.0
        each = (self.w * self.wxy - self.wx * self.wy) / spread
        if each <= 0:
            return self.wy / self.w, 0.0
        fixed = (self.wy - each * self.wx) / self.w
        if fixed < 0:
            return 0.0, self.wxy / self.wxx
        return round(fixed, 12), round(each, 12)

    def at(self, x: float) -> float:
        """The line's value."""
        fixed, each = self.line
        return fixed + each * x

    def at_least(self, each: float) -> Line:
        """The line through the points that rises by so much, or by itself if that is more."""
        fixed, own = self.line
        if own >= each or not self.w:
            return Line(fixed, own)
        return Line(max(0.0, (self.wy - each * self.wx) / self.w), each)

    def as_dict(self) -> dict[str, float]:
        """The sums by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Line:
    """What is fixed, and what each x adds."""

    fixed: float
    each: float

    def at(self, x: float) -> float:
        """The line's value."""
        return self.fixed + self.each * x


@dataclass(frozen=True, slots=True)
class Growth:
    """How a count grows with another one: never faster than in proportion, and never falling.

    Distinct keys of a batch grow so: twice the records bring fewer than twice the keys, until all
    are there. Points of about the same x are kept together, by the power of two that is nearest.
    """

    steps: tuple[tuple[int, float, float, float], ...] = ()  # power, weight, sums of both logs

    def seen(self, x: float, y: float) -> Growth:
        """The growth with one more point; what is not positive tells nothing."""
        if x <= 0 or y <= 0:
            return self
        return self.together(Growth(((round(log2(x)), 1.0, log(x), log(y)),)))

    def together(self, other: Growth, keep: float = 1.0) -> Growth:
        """Both as one, this one remembered only by the share `keep`."""
        known = {power: (w * keep, x * keep, y * keep) for power, w, x, y in self.steps}
        for power, *more in other.steps:
            own = known.get(power, (0.0, 0.0, 0.0))
            known[power] = (own[0] + more[0], own[1] + more[1], own[2] + more[2])
        # What is all but forgotten would bend the curve as much as what is known well.
        least = FORGOTTEN * max((sums[0] for sums in known.values()), default=0.0)
        kept = sorted((power, *sums) for power, sums in known.items() if sums[0] >= least)
        return Growth(tuple(kept))

    def as_lists(self) -> list[list[float]]:
        """The growth as it is kept."""
        return [list(step) for step in self.steps]

    @classmethod
    def from_lists(cls, kept: Iterable[Iterable[float]]) -> Growth:
        """Read what was kept."""
        return cls(tuple((int(power), w, x, y) for power, w, x, y in kept))

    @property
    def largest(self) -> float:
        """About the largest x that was seen."""
        return exp(self.steps[-1][2] / self.steps[-1][1]) if self.steps else 0.0

    def faded(self, keep: float) -> Growth:
        """The same points, counting only by a share."""
        return self.together(Growth(), keep)

    def at(self, x: float) -> float:
        """How many there are of x: between what was seen around it, or as the nearest two grow.

        >>> round(Growth().seen(100, 50).seen(10_000, 500).at(1_000))
        158
        """
        if x <= 0 or not self.steps:
            return 0.0
        at = [(sum_x / w, sum_y / w) for _, w, sum_x, sum_y in self.steps]
        if len(at) == 1:
            return exp(at[0][1] + log(x) - at[0][0])
        place = next((n for n in range(1, len(at) - 1) if log(x) <= at[n][0]), len(at) - 1)
        (x0, y0), (x1, y1) = at[place - 1 : place + 1]
        slope = min(max((y1 - y0) / max(x1 - x0, 1e-9), 0.0), 1.0)
        near = (x1, y1) if log(x) > x1 else (x0, y0)
        return exp(near[1] + slope * (log(x) - near[0]))

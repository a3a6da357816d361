"""What the phases that read cost, by how many tasks do so at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from headway.measure.costs.fits import Fit, Line

ENOUGH = 4.0  # points from which a number of tasks has a line of its own


@dataclass(frozen=True, slots=True)
class Readers:
    """The fits of each phase by the number of tasks that read side by side.

    Tasks side by side are in each other's way (paper 1, section 3.2), on few cores so much that
    two may be no faster than one: each number of them has a line of its own, where it was seen.
    """

    fits: Mapping[int, Mapping[str, Fit]] = field(default_factory=dict)

    def seen(self, readers: int, points: Mapping[str, tuple[float, float]], fade: float) -> Readers:
        """The same with one more point of each phase while so many tasks read."""
        readers = max(1, readers)
        return Readers({**self.fits, readers: fits_with(self.fits.get(readers, {}), points, fade)})

    def line(self, phase: str, readers: int) -> Line | None:
        """What a phase costs while so many tasks read; nothing where it was hardly seen.

        A number of tasks that was seen with small batches only says little of its slope; but a
        task is never faster for having others beside it, nor do fewer tasks get through more.
        """
        fits = {n: own[phase] for n, own in self.fits.items() if phase in own}
        known = {n: fit for n, fit in fits.items() if fit.points >= ENOUGH}
        if not known:
            return None
        near = min(known, key=lambda n: abs(log(n / max(1, readers))))
        slopes = {n: fit.line[1] for n, fit in known.items()}
        return known[near].at_least(max(min(1.0, near / n) * slope for n, slope in slopes.items()))

    def together(self, newer: Readers, keep: float) -> Readers:
        """Both as one, this one remembered only by the share `keep`."""
        return Readers(
            {
                count: fits_together(self.fits.get(count, {}), newer.fits.get(count, {}), keep)
                for count in dict.fromkeys([*self.fits, *newer.fits])
            }
        )

    def as_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """The sums by name."""
        return {str(count): kept_fits(fits) for count, fits in self.fits.items()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Readers:
        """Read what was kept."""
        return cls({int(count): read_fits(fits) for count, fits in kept.items()})


def fits_with(
    fits: Mapping[str, Fit], points: Mapping[str, tuple[float, float]], fade: float
) -> dict[str, Fit]:
    """The fits of those names that have a point, with it, the older points counting by a share."""
    return {name: fits.get(name, Fit()).faded(fade).seen(*at) for name, at in points.items()}


def fits_together(
    older: Mapping[str, Fit], newer: Mapping[str, Fit], keep: float
) -> dict[str, Fit]:
    """The fits of both by name, the older ones counting by a share."""
    return {
        name: older.get(name, Fit()).together(newer.get(name, Fit()), keep)
        for name in dict.fromkeys([*older, *newer])
    }


def kept_fits(fits: Mapping[str, Fit]) -> dict[str, dict[str, float]]:
    """Fits by name as they are kept."""
    return {name: fit.as_dict() for name, fit in fits.items()}


def read_fits(kept: Mapping[str, Mapping[str, float]]) -> dict[str, Fit]:
    """Fits by name as they were kept."""
    return {name: Fit(**sums) for name, sums in kept.items()}

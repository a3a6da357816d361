"""Batches timed side by side, turned into rates and ratios: a round is compared with itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median, stdev

Blocks = Mapping[str, Sequence[float]]  # contestant -> seconds of each block of rounds


@dataclass(frozen=True, slots=True)
class Rounds:
    """Which batches count: `warm_up` come before, and the last one, at whose end some leave, after.

    repeats   blocks of rounds, each compared with itself
    length    rounds in a block
    """

    warm_up: int
    repeats: int
    length: int

    @property
    def batches(self) -> int:
        """How many batches each contestant works off in all."""
        return self.warm_up + self.repeats * self.length + 1

    def blocks(self, took_s: Sequence[float]) -> list[float]:
        """The seconds of each block.

        >>> Rounds(warm_up=1, repeats=2, length=2).blocks([9.0, 1.0, 2.0, 3.0, 4.0, 9.0])
        [3.0, 7.0]
        """
        starts = range(self.warm_up, self.warm_up + self.repeats * self.length, self.length)
        return [sum(took_s[start : start + self.length]) for start in starts]


def ratios(blocks: Blocks, ours: str, other: str) -> list[float]:
    """How many times as fast as `other` ours was, in each block.

    >>> ratios({"a": [2.0, 3.0], "b": [4.0, 9.0]}, "a", "b")
    [2.0, 3.0]
    """
    return [theirs / mine for mine, theirs in zip(blocks[ours], blocks[other], strict=True)]


def typical(values: Sequence[float]) -> float:
    """The median, to three digits.

    >>> typical([1.0, 40.04567, 10.04567])
    10.0
    """
    return float(f"{median(values):.3g}")


def spread(values: Sequence[float]) -> list[float]:
    """The smallest and the largest.

    >>> spread([2.0, 1.0, 3.0])
    [1.0, 3.0]
    """
    return [float(f"{min(values):.3g}"), float(f"{max(values):.3g}")]


def uncertainty(values: Sequence[float]) -> float:
    """The standard error of the mean: by how much another run as long would differ, about.

    >>> uncertainty([1.0, 2.0, 3.0])
    0.577
    """
    return float(f"{stdev(values) / sqrt(len(values)):.3g}")

"""Rates measured side by side, turned into ratios: a repeat is compared with itself alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

Rates = Mapping[str, Sequence[float]]  # contestant -> rate in each repeat


def ratios(rates: Rates, ours: str, other: str) -> list[float]:
    """How many times the rate of `other` ours was, in each repeat.

    >>> ratios({"a": [4.0, 9.0], "b": [2.0, 3.0]}, "a", "b")
    [2.0, 3.0]
    """
    return [mine / theirs for mine, theirs in zip(rates[ours], rates[other], strict=True)]


def typical(values: Sequence[float]) -> float:
    """The median, to three digits that matter.

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


def fastest(rates: Rates, among: Sequence[str]) -> str:
    """The contestant with the highest median rate.

    >>> fastest({"a": [1.0], "b": [2.0], "c": [3.0]}, ["a", "b"])
    'b'
    """
    return max(among, key=lambda name: median(rates[name]))

"""How many points the next Spark job answers: few at first, more as they cost more than they tell.

A job has a fixed cost, so a job per point would cost a multiple of the full query. Any chunking
gives the same answers; it only decides when they are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# A job that reads little: planning, launching and collecting, on a machine that is warm.
FIXED_S = 0.3


@dataclass(frozen=True, slots=True)
class Chunk:
    """The points from `first` to `last`, answered by one job."""

    first: int
    last: int

    @property
    def points(self) -> range:
        return range(self.first, self.last + 1)


@dataclass(frozen=True, slots=True)
class Spent:
    """A chunk that was computed, and what it took."""

    chunk: Chunk
    measured_s: float


@dataclass(frozen=True, slots=True)
class Budget:
    """What all answers together may cost, in times of the full query."""

    total: float = 1.3


def buckets(points: int) -> list[Chunk]:
    """How stored tuples are laid out: a first point by itself, then groups that double.

    >>> [(one.first, one.last) for one in buckets(10)]
    [(0, 0), (1, 1), (2, 3), (4, 7), (8, 9)]
    """
    laid: list[Chunk] = []
    first, size = 0, 1
    while first < points:
        laid.append(Chunk(first, min(first + size, points) - 1))
        first += size
        size = size if first == 1 else size * 2
    return laid


def next_chunk(shares: Sequence[float], done: Sequence[Spent], budget: Budget) -> Chunk | None:
    """The next chunk, or None after the last point.

    `shares` is the part of all tuples that has entered by each point. A chunk reads all tuples up
    to its last point, so a chunk in the middle is worth it only while the final one still fits
    into the budget.
    """
    last = len(shares) - 1
    first = done[-1].chunk.last + 1 if done else 0
    if first > last:
        return None
    if not done:
        return Chunk(0, 0)
    full_s = full_run_s(shares, done)
    left_s = budget.total * full_s - sum(one.measured_s for one in done)
    wanted = Chunk(first, min(last, 2 * first))
    if wanted.last < last and cost_s(shares, wanted, full_s) + full_s + FIXED_S <= left_s:
        return wanted
    return Chunk(first, last)


def full_run_s(shares: Sequence[float], done: Sequence[Spent]) -> float:
    """What the full query would take, told from the last chunk."""
    latest = done[-1]
    share = max(shares[latest.chunk.last], 1e-9)
    return FIXED_S + max(latest.measured_s - FIXED_S, 0.0) / share


def cost_s(shares: Sequence[float], chunk: Chunk, full_s: float) -> float:
    """What a chunk is expected to take."""
    return FIXED_S + (full_s - FIXED_S) * shares[chunk.last]

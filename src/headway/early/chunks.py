"""How many points the next Spark job answers: few at first, more as they cost more than they tell.

A job has a fixed cost, so a job per point would cost a multiple of the full query. Any chunking
gives the same answers; it only decides when they are seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Tuples that a machine of two cores reads, filters and joins in a second, if it does well.
FASTEST_PER_S = 15_000_000
FEW_POINTS = 20  # so many are laid out each by itself
# The first chunk is a plain query over one point. A later one carries intervals and keeps partial
# results, so until one was seen it is taken to cost so many times the first.
LATER = 3.0


@dataclass(frozen=True, slots=True)
class Chunk:
    """The points from `first` to `last`, answered by one job."""

    first: int
    last: int

    @property
    def points(self) -> range:
        return range(self.first, self.last + 1)


def chunk_name(chunk: Chunk) -> str:
    """What the file of a chunk is called, before its ending.

    >>> chunk_name(Chunk(2, 9)), chunk_named("000002-000009"), chunk_named(".hidden")
    ('000002-000009', Chunk(first=2, last=9), None)
    """
    return f"{chunk.first:06d}-{chunk.last:06d}"


def chunk_named(name: str) -> Chunk | None:
    """The chunk whose file is called so, or None if it is no such name."""
    first, _, last = name.partition("-")
    return Chunk(int(first), int(last)) if first.isdigit() and last.isdigit() else None


def in_a_row(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Chunks that follow each other from the first point on, up to the first that is missing.

    >>> in_a_row([Chunk(3, 5), Chunk(0, 0)])
    [Chunk(first=0, last=0)]
    """
    by_first, row, point = {one.first: one for one in chunks}, [], 0
    while point in by_first:
        row.append(by_first[point])
        point = row[-1].last + 1
    return row


@dataclass(frozen=True, slots=True)
class Spent:
    """A chunk that was computed, and what it took."""

    chunk: Chunk
    measured_s: float


@dataclass(frozen=True, slots=True)
class Budget:
    """What all answers together may cost, in times of the full query.

    `forgets` says that no chunk needs tuples of earlier points.
    """

    total: float = 1.3
    forgets: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """The part of all tuples that has entered by each point, and how many there are in all."""

    shares: tuple[float, ...]
    rows: int = 0


def buckets(points: int) -> list[Chunk]:
    """How stored tuples are laid out: each point by itself, of many points in groups that double.

    Whoever goes on point by point reads a group for each of its points; whoever reads everything
    opens all of them.

    >>> [(one.first, one.last) for one in buckets(100)][:5], len(buckets(20))
    ([(0, 0), (1, 1), (2, 3), (4, 7), (8, 15)], 20)
    """
    laid: list[Chunk] = []
    first, size = 0, 1
    while first < points:
        laid.append(Chunk(first, min(first + size, points) - 1))
        first += size
        size = size if first == 1 or points <= FEW_POINTS else size * 2
    return laid


def next_chunk(size: Size, done: Sequence[Spent], budget: Budget) -> Chunk | None:
    """The next chunk, or None after the last point.

    A chunk reads all tuples up to its last point, so a chunk in the middle is worth it only while
    the final one still fits into the budget. Where earlier points are forgotten it reads only its
    own, and costs no more than the job does.
    """
    last = len(size.shares) - 1
    first = done[-1].chunk.last + 1 if done else 0
    if first > last:
        return None
    if not done:
        return Chunk(0, 0)
    full_s = full_run_s(size, done)
    left_s = budget.total * full_s - sum(one.measured_s for one in done)
    wanted = Chunk(first, min(last, 2 * first))
    middle_s = later_s(done) + full_s * (0.0 if budget.forgets else size.shares[wanted.last])
    rest_s = full_s * (1 - size.shares[first - 1]) if budget.forgets else full_s
    if wanted.last < last and middle_s + rest_s <= left_s:
        return wanted
    return Chunk(first, last)


def fixed_s(done: Sequence[Spent]) -> float:
    """What a chunk costs however little it reads: no more than the shortest one did."""
    return min((one.measured_s for one in done if one.measured_s > 0), default=0.0)


def later_s(done: Sequence[Spent]) -> float:
    """What a chunk after the first costs however little it reads.

    >>> later_s([Spent(Chunk(0, 0), 0.5), Spent(Chunk(1, 2), 0.0)])
    1.5
    >>> later_s([Spent(Chunk(0, 0), 0.5), Spent(Chunk(1, 2), 0.75)])
    0.75
    """
    return fixed_s(done[1:]) or LATER * fixed_s(done[:1])


def full_run_s(size: Size, done: Sequence[Spent]) -> float:
    """What the full query takes at least, as far as is known.

    Of small chunks one sees the fixed cost and little else, so at first it is the tuples that tell;
    two chunks of unlike size tell what the difference in tuples cost.
    """
    known_s = max(fixed_s(done), size.rows / FASTEST_PER_S)
    told = [one for one in done if one.measured_s > 0]
    if len(told) < 2:
        return known_s
    small, large = told[0], told[-1]
    more = size.shares[large.chunk.last] - size.shares[small.chunk.last]
    slope_s = max(0.0, large.measured_s - small.measured_s) / max(more, 1e-9)
    return max(known_s, small.measured_s + slope_s * (1 - size.shares[small.chunk.last]))

"""What the gate needs of any topic; small, so that another kind of topic drops in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Position = dict[str, int]  # partition -> the offset of the first record not yet read


@dataclass(frozen=True, slots=True)
class Slice:
    """A run of records of one partition: offsets `first` up to, not including, `stop`."""

    partition: str
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be read, with its bytes as they came."""

    offset: int
    raw: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Records:
    """Records that were read: columns, each row's offset and arrival, and the bad ones.

    `expired` counts records that the topic had removed, and was allowed to, before these.
    """

    batch: pa.RecordBatch
    offsets: NDArray[np.int64]
    arrivals_us: NDArray[np.int64]
    bad: tuple[BadRecord, ...] = ()
    expired: int = 0


class OpenTopic(Protocol):
    """A topic opened for reading. Reading a slice twice gives the same records."""

    def begin(self) -> Position:
        """Where a new run starts reading."""
        ...

    def reach(self, now_us: int) -> Position:
        """How far records have arrived by `now_us`; it may never shrink what was said before."""
        ...

    def cut(self, start: Position, reach: Position, rows: int | None) -> Position:
        """Where a batch of at most `rows` records from `start` ends, in order of arrival."""
        ...

    def finished(self, position: Position) -> bool:
        """Whether no record will ever come after `position`."""
        ...

    def read(self, piece: Slice) -> Iterator[Records]:
        """The records of a slice, in order."""
        ...


def count_between(start: Position, end: Position) -> int:
    """How many records lie between two positions.

    >>> count_between({"0": 3}, {"0": 10, "1": 4})
    11
    """
    return sum(max(0, stop - start.get(partition, 0)) for partition, stop in end.items())


def advance(start: Position, reach: Position, rows: int | None) -> Position:
    """Move from `start` towards `reach` by at most `rows` records, shared fairly by partitions.

    The result never lies before `start` nor beyond `reach`, and moves by exactly
    ``min(rows, count_between(start, reach))``.

    >>> advance({"0": 0, "1": 0}, {"0": 10, "1": 100}, 30)
    {'0': 10, '1': 20}
    """
    left = {p: max(0, stop - start.get(p, 0)) for p, stop in reach.items()}
    total = sum(left.values())
    if rows is None or rows >= total:
        take = dict(left)
    else:
        take, budget = {}, rows
        for place, (partition, waiting) in enumerate(sorted(left.items(), key=lambda i: i[1])):
            take[partition] = min(waiting, budget // (len(left) - place))
            budget -= take[partition]
    return {p: start.get(p, 0) + take.get(p, 0) for p in sorted({*start, *reach}, key=int)}


def share_out(start: Position, end: Position, readers: int) -> list[list[Slice]]:
    """Cut what lies between two positions into at most `readers` shares of about equal size.

    The shares hold each record once; each share is a list of slices in offset order.

    >>> share_out({"0": 0}, {"0": 5}, 2)
    [[Slice(partition='0', first=0, stop=3)], [Slice(partition='0', first=3, stop=5)]]
    """
    total = count_between(start, end)
    if not total:
        return []
    room = -(-total // max(1, readers))
    shares: list[list[Slice]] = [[]]
    left = room
    for partition, stop in end.items():
        first = start.get(partition, 0)
        while first < stop:
            if not left:
                shares.append([])
                left = room
            taken = min(left, stop - first)
            shares[-1].append(Slice(partition, first, first + taken))
            first, left = first + taken, left - taken
    return shares


def in_order(pieces: Sequence[Slice]) -> list[Slice]:
    """Slices sorted by partition and offset."""
    return sorted(pieces, key=lambda piece: (int(piece.partition), piece.first))

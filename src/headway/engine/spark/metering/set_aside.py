"""How many records of one batch's own ranges are in quarantine, whatever else is there by now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.engine.spark.gate.columns import place_of
from headway.engine.topics.port import Position
from headway.engine.topics.quarantine import NAME

Ranges = Mapping[str, tuple[Position, Position]]  # source -> first offsets, offsets after the last


@dataclass(frozen=True, slots=True)
class SetAside:
    """Records that never became rows, rows on which a pair failed, offsets without a record.

    `notes` are the files that do nothing but count the last; once a line has them they may go.
    """

    kept_out: int
    failed: int
    blank: int
    notes: tuple[Path, ...] = ()

    @property
    def quarantined(self) -> int:
        """Records that have no answer."""
        return self.kept_out + self.failed


def count_set_aside(folder: Path, ranges: Ranges, sources: Sequence[str]) -> SetAside:
    """What of a batch's ranges is in quarantine.

    The next batch may be writing its own while this one is being counted, and a batch that is
    replayed after a crash finds what it wrote before: so what counts is the range, not the time.
    """
    kept_out = blank = 0
    failed: set[int] = set()
    notes: list[Path] = []
    for path in folder.iterdir() if folder.is_dir() else ():
        match = NAME.fullmatch(path.name)
        if match is None or match[5] == "unfinished":
            continue
        first = int(match[3])
        if match[5] == "failed":
            number, partition, offset = place_of(first)
            if holds(ranges[sources[number]], partition, offset):
                failed.add(first)
        elif match[1] in ranges and holds(ranges[match[1]], match[2], first):
            if match[5] == "blank":
                blank += int(match[6])
                notes.append(path)
            else:
                kept_out += int(match[6])
    return SetAside(kept_out, len(failed), blank, tuple(notes))


def holds(range_: tuple[Position, Position], partition: str, offset: int) -> bool:
    """Whether a record lies in a range.

    >>> holds(({"0": 3}, {"0": 5}), "0", 5), holds(({}, {"1": 5}), "1", 4)
    (False, True)
    """
    start, end = range_
    return start.get(partition, 0) <= offset < end.get(partition, 0)

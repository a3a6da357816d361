"""Photographs of Spark's log around a crash, to see that no decision changes once it was logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.engine.spark.gate.offset_log import (
    LoggedBatch,
    parse_offsets,
    read_numbered,
    read_offset_log,
)
from headway.measure.batches import BatchLine

__all__ = ["LoggedBatch", "Snapshot", "changed_decisions", "read_offset_log", "take_snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The text of each batch in the log at one instant, and the batches that were complete."""

    offsets: Mapping[int, str]
    committed: frozenset[int]

    @property
    def interrupted(self) -> frozenset[int]:
        """The batches that were decided and not completed."""
        return frozenset(self.offsets) - self.committed


def take_snapshot(checkpoint: Path) -> Snapshot:
    """What the log of a checkpoint says now."""
    committed = frozenset(read_numbered(checkpoint / "commits"))
    return Snapshot(read_numbered(checkpoint / "offsets"), committed)


def changed_decisions(
    taken: Sequence[Snapshot], final: Snapshot, lines: Sequence[BatchLine]
) -> list[str]:
    """What became of decisions that were logged before a crash, where it is not the very same.

    Each logged offset must be in the final log as it was, and what a batch then did, by its own
    line, must be what its offset says; a batch that was interrupted must have been completed.
    """
    wrong: list[str] = []
    for place, snapshot in enumerate(taken):
        for batch, text in snapshot.offsets.items():
            if final.offsets.get(batch) != text:
                wrong.append(f"kill {place}: the offset of batch {batch} is another one now")
        for batch in sorted(snapshot.interrupted - final.committed):
            wrong.append(f"kill {place}: batch {batch} was begun and never completed")
    return wrong + [text for line in lines for text in departures(line, final)]


def departures(line: BatchLine, log: Snapshot) -> list[str]:
    """Where what a batch did departs from what the log says that it was to do."""
    if line.batch not in log.offsets:
        return []
    ends = parse_offsets(log.offsets[line.batch])
    wanted = {name: end.position for name, end in ends.items()}
    watermark_s = max(end.decision.wm_ms for end in ends.values()) / 1e3
    wrong = []
    if line.end != wanted:
        wrong.append(f"batch {line.batch} was to end at {wanted} and ended at {line.end}")
    if line.watermark_s != watermark_s:
        wrong.append(f"batch {line.batch} ran at watermark {line.watermark_s}, not {watermark_s}")
    return wrong

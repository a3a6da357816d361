"""Spark's own log of a query, read back: which batches were decided, how, and which completed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headway.engine.spark.gate.offsets import GateOffset
from headway.engine.topics.port import Position

NO_OFFSET = "-"


@dataclass(frozen=True, slots=True)
class LoggedBatch:
    """One batch as it stands in the log: where each source ended, and by which decision."""

    batch: int
    ends: Mapping[str, GateOffset]
    starts: Mapping[str, Position]
    committed: bool

    @property
    def watermark_ms(self) -> int:
        """The watermark while the batch ran; 0 for a flow without windows."""
        return max((end.decision.wm_ms for end in self.ends.values()), default=0)


def read_offset_log(
    checkpoint: Path, begins: Mapping[str, Position] | None = None
) -> list[LoggedBatch]:
    """The batches that the log still holds, in order; those that Spark has purged are not in it.

    `begins` tells where a run began whose offsets do not say it.
    """
    texts = read_numbered(checkpoint / "offsets")
    committed = read_numbered(checkpoint / "commits").keys()
    batches: list[LoggedBatch] = []
    before: dict[str, GateOffset] = {}
    for number, text in texts.items():
        ends = before | parse_offsets(text, begins)
        starts = {
            name: before[name].position if name in before else end.decision.begin
            for name, end in ends.items()
        }
        if before or number == 0:
            batches.append(LoggedBatch(number, ends, starts, number in committed))
        before = ends
    return batches


def parse_offsets(text: str, begins: Mapping[str, Position] | None = None) -> dict[str, GateOffset]:
    """The offsets of one log file, by source; its first two lines are version and metadata."""
    found = {}
    for line in text.splitlines()[2:]:
        if line != NO_OFFSET:
            offset = json.loads(line)
            name = next(name for name in offset if name != "headway")
            found[name] = GateOffset.from_dict(name, offset, (begins or {}).get(name))
    return found


def settings_in(checkpoint: Path) -> dict[str, str]:
    """The settings that Spark keeps with the last batch of a checkpoint; none for a new one."""
    decided = numbered(checkpoint / "offsets")
    if not decided:
        return {}
    about = json.loads(decided[max(decided)].read_text().split("\n")[1])
    return {name: str(value) for name, value in about.get("conf", {}).items()}


def numbered(folder: Path) -> dict[int, Path]:
    """The files of a log by number; what Spark writes appears under its number when complete."""
    if not folder.is_dir():
        return {}
    return {int(path.name): path for path in folder.iterdir() if path.name.isdigit()}


def read_numbered(folder: Path) -> dict[int, str]:
    """What stands in the files of a log, by number and in its order."""
    return {number: path.read_text() for number, path in sorted(numbered(folder).items())}

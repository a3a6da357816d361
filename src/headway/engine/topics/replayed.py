"""Replayed topics, opened: record n arrives when it is due, whether or not anyone reads it then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headway.engine.topics.blocks import Blocks, lay_out
from headway.engine.topics.decode import Layout, decode
from headway.engine.topics.port import BadRecord, Position, Records, Slice, advance
from headway.flow.columns.schema import Schema
from headway.flow.rates import RateSchedule
from headway.flow.topics import MadeRecords, ReplayedFile, ReplayedRecords

ONLY = "0"
PIECE_RECORDS = 20_000


@dataclass(frozen=True, slots=True)
class Made:
    """Records by number from a maker."""

    topic: MadeRecords

    @property
    def count(self) -> int | None:
        """How many there are; None without end."""
        return self.topic.count

    def read(self, first: int, stop: int) -> Iterator[tuple[int, pa.RecordBatch, list[BadRecord]]]:
        """Pieces of the range with the number of their first record."""
        for start in range(first, stop, PIECE_RECORDS):
            end = min(stop, start + PIECE_RECORDS)
            yield start, self.topic.maker.make(start, end), []


@dataclass(frozen=True, slots=True)
class Stored:
    """Records by number from blocks on disk."""

    blocks: Blocks
    layout: Layout

    @property
    def count(self) -> int | None:
        """How many there are."""
        return self.blocks.count

    def read(self, first: int, stop: int) -> Iterator[tuple[int, pa.RecordBatch, list[BadRecord]]]:
        """Pieces of the range; a bad record keeps its number and leaves a gap in the batch."""
        for start, block in self.blocks.read(first, stop):
            if self.blocks.kind == "rows":
                yield start, block, []
            else:
                yield self._decoded(start, block.column(0).to_pylist())

    def _decoded(
        self, start: int, lines: list[bytes]
    ) -> tuple[int, pa.RecordBatch, list[BadRecord]]:
        found = decode(lines, self.layout)
        bad = [BadRecord(start + place, lines[place], why) for place, why in found.bad]
        batch = found.batch
        if found.good is not None:
            places = pa.array([start + place for place in found.good], pa.int64())
            batch = batch.append_column("__offset", places)
        return start, batch, bad


@dataclass(frozen=True, slots=True)
class OpenReplay:
    """A replayed topic with its start time: record n arrives at `t0_us` plus its due time."""

    records: Made | Stored
    rate: RateSchedule
    t0_us: int

    def begin(self) -> Position:
        """A replay starts with its first record."""
        return {ONLY: 0}

    def reach(self, now_us: int) -> Position:
        """The records that are due by now."""
        due = self.rate.due_by((now_us - self.t0_us) / 1e6)
        count = self.records.count
        if due is None:
            due = count if count is not None else np.iinfo(np.int64).max
        return {ONLY: due if count is None else min(due, count)}

    def cut(self, start: Position, reach: Position, rows: int | None) -> Position:
        """One partition: as far as the rows go."""
        return advance(start, reach, rows)

    def finished(self, position: Position) -> bool:
        """Whether the last record was read."""
        return self.records.count is not None and position[ONLY] >= self.records.count

    def read(self, piece: Slice) -> Iterator[Records]:
        """The records of a slice with the times they were due."""
        for start, batch, bad in self.records.read(piece.first, piece.stop):
            batch, offsets, bad = set_apart(start, batch, bad)
            arrivals = self.t0_us + self.due_us(offsets)
            yield Records(batch, offsets, arrivals, tuple(bad))

    def due_us(self, offsets: np.typing.NDArray[np.int64]) -> np.typing.NDArray[np.int64]:
        """When records fall due after the start."""
        if not len(offsets):
            return offsets
        first, stop = int(offsets[0]), int(offsets[-1]) + 1
        return self.rate.due_us(first, stop)[offsets - first]


def set_apart(
    start: int, batch: pa.RecordBatch, bad: list[BadRecord]
) -> tuple[pa.RecordBatch, np.typing.NDArray[np.int64], list[BadRecord]]:
    """Split what a block or a decoder marked into good rows with offsets, and bad records."""
    names = batch.schema.names
    if "__offset" in names:
        offsets = batch.column("__offset").to_numpy()
        return batch.drop_columns(["__offset"]), offsets, bad
    offsets = np.arange(start, start + batch.num_rows, dtype=np.int64)
    if "__reason" not in names:
        return batch, offsets, bad
    reasons = batch.column("__reason")
    rows = batch.drop_columns(["__raw", "__reason"])
    if reasons.null_count == len(reasons):
        return rows, offsets, bad
    keep = pc.is_null(reasons)
    raws = batch.column("__raw")
    for place in np.flatnonzero(~keep.to_numpy(zero_copy_only=False)):
        found = BadRecord(int(offsets[place]), raws[place].as_py(), reasons[place].as_py())
        bad = [*bad, found]
    return rows.filter(keep), offsets[keep.to_numpy(zero_copy_only=False)], bad


def open_replay(
    topic: ReplayedFile | ReplayedRecords | MadeRecords, schema: Schema, folder: Path, t0_us: int
) -> OpenReplay:
    """Open a replayed topic, laying a file out under `folder` the first time."""
    if isinstance(topic, MadeRecords):
        return OpenReplay(Made(topic), topic.rate, t0_us)
    blocks = lay_out(topic, schema, folder)
    if isinstance(topic, ReplayedRecords):
        return OpenReplay(Stored(blocks, Layout("rows", schema)), topic.rate, t0_us)
    fields = blocks.fields or schema.names
    layout = Layout(topic.format, schema, topic.delimiter, fields)
    return OpenReplay(Stored(blocks, layout), topic.rate, t0_us)

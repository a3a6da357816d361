"""A spool folder, opened for reading behind the gate."""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from headway.engine.topics.port import Position, Records, Slice, advance, count_between
from headway.engine.topics.spool import ARRIVAL, SpoolFile, list_files
from headway.errors import SchemaMismatch, TopicError
from headway.flow.columns.schema import Schema

SETTLED_NS = 1_000_000_000  # a folder's time is coarse: trust it only when it is this old


@dataclass(slots=True)
class Partition:
    """One partition's files, listed again only when its folder has changed."""

    folder: Path
    files: list[SpoolFile] = field(default_factory=list)
    listed_ns: int = -1

    def refresh(self, now_ns: int) -> list[SpoolFile]:
        """The files by offset."""
        changed_ns = os.stat(self.folder).st_mtime_ns
        if changed_ns != self.listed_ns or now_ns - changed_ns < SETTLED_NS:
            self.files, self.listed_ns = list_files(self.folder), changed_ns
        return self.files


class OpenSpool:
    """A spool folder as a topic of one or more partitions."""

    def __init__(self, folder: Path, schema: Schema, start: str = "earliest") -> None:
        self._schema, self._start = schema, start
        self._partitions: dict[str, Partition] = {}
        self._folder = folder
        if not (folder / "spool.json").exists():
            raise TopicError(
                f"there is no spool in {folder}; make one with headway.Spool(folder, schema)"
            )
        self._find_partitions()

    def _find_partitions(self) -> None:
        for path in sorted(self._folder.glob("p[0-9]*")):
            self._partitions.setdefault(path.name[1:], Partition(path))

    def begin(self) -> Position:
        """The first record that is still kept, or the next one to come."""
        if self._start == "latest":
            return self.reach(0)
        return {
            name: (files[0].first if (files := part.refresh(0)) else 0)
            for name, part in self._partitions.items()
        }

    def reach(self, now_us: int) -> Position:
        """The end of each partition."""
        return {
            name: (files[-1].stop if (files := part.refresh(now_us * 1_000)) else 0)
            for name, part in self._partitions.items()
        }

    def cut(self, start: Position, reach: Position, rows: int | None) -> Position:
        """File by file as they were written, whatever partition they are in.

        Equal shares of all partitions would read a quiet one far ahead of a busy one, and the
        watermark with it: what the busy one holds would then be late.
        """
        if rows is None or rows >= count_between(start, reach):
            return advance(start, reach, None)
        waiting = sorted(
            (file.written_ns, partition, file.stop)
            for partition, part in self._partitions.items()
            for file in part.files
            if start.get(partition, 0) < file.stop <= reach.get(partition, 0)
        )
        position, left = dict(advance(start, start, None)), rows
        for _, partition, stop in waiting:
            taken = min(left, stop - position.get(partition, 0))
            position[partition] = position.get(partition, 0) + taken
            left -= taken
        return position

    def finished(self, position: Position) -> bool:
        """Never: anyone may append."""
        return False

    def read(self, piece: Slice) -> Iterator[Records]:
        """The records of a slice, a file at a time."""
        files = self._partitions[piece.partition].refresh(0)
        if not files or files[-1].stop < piece.stop:
            files = list_files(self._folder / f"p{piece.partition}")
        place = max(0, bisect.bisect_right([file.first for file in files], piece.first) - 1)
        expected = piece.first
        for file in files[place:]:
            if expected >= piece.stop:
                return
            if not file.first <= expected < file.stop:
                break
            taken = min(piece.stop, file.stop) - expected
            yield self._records(file, expected, taken)
            expected += taken
        if expected < piece.stop:
            raise TopicError(
                f"records {expected} to {piece.stop - 1} of partition {piece.partition} of spool "
                f"{self._folder} are gone; restore its files, or start a new run folder to go on "
                "from what is there"
            )

    def _records(self, file: SpoolFile, first: int, taken: int) -> Records:
        batch = file.read().slice(first - file.first, taken)
        arrivals = batch.column(ARRIVAL).to_numpy()
        wanted = self._schema.arrow()
        try:
            rows = pa.RecordBatch.from_arrays(
                [batch.column(f.name).cast(f.type) for f in wanted], schema=wanted
            )
        except (KeyError, pa.ArrowException) as error:
            raise SchemaMismatch(str(file.path), str(self._schema), str(batch.schema)) from error
        return Records(rows, np.arange(first, first + taken, dtype=np.int64), arrivals)

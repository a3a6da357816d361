"""A durable local topic: folders of Arrow files that any process can append to.

answers/spool.json                      columns and number of partitions
answers/p0/<first>-<count>-<crc>.arrow  one append; a name appears only when its bytes are whole
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from headway.clock import Clock, SystemClock
from headway.errors import SchemaMismatch, TopicError
from headway.flow.columns.schema import Schema, exact_batch

NAME = re.compile(r"(\d{20})-(\d{10})-([0-9a-f]{8})(?:-([\w.=-]+))?\.arrow")
TAG = re.compile(r"[\w.=-]+")
ARRIVAL = "__arrival_us"


@dataclass(frozen=True, slots=True)
class SpoolFile:
    """What a file's name says of it; the checksum covers every byte."""

    path: Path
    first: int
    count: int
    checksum: int
    tag: str | None
    written_ns: int = 0

    @property
    def stop(self) -> int:
        """The offset after its last record."""
        return self.first + self.count

    def read(self) -> pa.RecordBatch:
        """The records, checked against the checksum in the name."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise TopicError(f"spool file {self.path} cannot be read ({error})") from error
        if zlib.crc32(data) != self.checksum:
            raise TopicError(
                f"spool file {self.path} is corrupt: its bytes do not have the checksum in its "
                f"name. Restore it from a copy; it holds records {self.first} to {self.stop - 1}"
            )
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all().combine_chunks()
        return table.to_batches()[0]


def list_files(folder: Path) -> list[SpoolFile]:
    """The files of one partition by offset; anything else in the folder is no record."""
    found = []
    for entry in os.scandir(folder):
        if match := NAME.fullmatch(entry.name):
            first, size, checksum, tag = match.groups()
            path = Path(entry.path)
            sum_, written_ns = int(checksum, 16), entry.stat().st_mtime_ns
            found.append(SpoolFile(path, int(first), int(size), sum_, tag, written_ns))
    return sorted(found, key=lambda file: file.first)


class Spool:
    """A spool opened for appending, by any number of processes at once."""

    def __init__(
        self,
        folder: str | Path,
        schema: str | None = None,
        *,
        partitions: int = 1,
        clock: Clock | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._clock = clock or SystemClock()
        self._turn = count()
        about = self.folder / "spool.json"
        if not about.exists():
            if schema is None:
                raise TopicError(f"there is no spool in {self.folder}; give a schema to make one")
            create_spool(self.folder, Schema.parse(schema), partitions)
        known = json.loads(about.read_text())
        self.schema = Schema.parse(known["schema"])
        self.partitions = int(known["partitions"])
        if schema is not None and Schema.parse(schema) != self.schema:
            raise SchemaMismatch(f"spool {self.folder}", schema, str(self.schema))

    def append(
        self,
        records: pa.Table | pa.RecordBatch | Sequence[dict[str, Any]],
        *,
        partition: int | None = None,
        tag: str | None = None,
    ) -> int:
        """Append records, all or none; return how many. A tag that is there already appends 0.

        Each record arrives now. A tag makes an append idempotent: the same tag appended again,
        even by another process after a crash, changes nothing.
        """
        if tag is not None and not TAG.fullmatch(tag):
            raise TopicError(f"a tag is made of letters, digits and . _ = -; got {tag!r}")
        table = self._fit(records)
        if not table.num_rows:
            return 0
        if partition is None:
            turn = zlib.crc32(tag.encode()) if tag else next(self._turn)
            partition = turn % self.partitions
        folder = self.folder / f"p{partition}"
        try:
            with locked(folder):
                files = list_files(folder)
                if tag is not None and any(file.tag == tag for file in files):
                    return 0
                self._write(folder, table, files[-1].stop if files else 0, tag)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise TopicError(
                    f"no space left for spool {self.folder}; nothing of this append was kept. "
                    "Free some space and append it again"
                ) from error
            raise
        return int(table.num_rows)

    def _fit(self, records: Any) -> pa.Table:
        wanted = self.schema.arrow()
        try:
            if isinstance(records, pa.RecordBatch):
                records = pa.Table.from_batches([records])
            if not isinstance(records, pa.Table):
                records = pa.Table.from_batches([exact_batch(records, wanted)])
            return records.select(wanted.names).cast(wanted).combine_chunks()
        except (pa.ArrowException, KeyError, TypeError, AttributeError) as error:
            found = records.schema if isinstance(records, pa.Table) else error
            raise SchemaMismatch(f"append to spool {self.folder}", str(self.schema), str(found)) \
                from error  # fmt: skip

    def _write(self, folder: Path, table: pa.Table, first: int, tag: str | None) -> None:
        arrivals = np.full(table.num_rows, self._clock.now_us(), dtype=np.int64)
        table = table.append_column(ARRIVAL, pa.array(arrivals))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as out:
            out.write_table(table, max_chunksize=table.num_rows)
        data = sink.getvalue()
        ending = f"-{tag}" if tag else ""
        name = f"{first:020d}-{table.num_rows:010d}-{zlib.crc32(data):08x}{ending}.arrow"
        write_durably(folder / name, data)


def create_spool(folder: Path, schema: Schema, partitions: int) -> None:
    """Make an empty spool; two processes that make the same one at once both succeed."""
    if partitions < 1:
        raise TopicError(f"a spool needs at least one partition; got {partitions}")
    for number in range(partitions):
        (folder / f"p{number}").mkdir(parents=True, exist_ok=True)
    about = json.dumps({"schema": str(schema), "partitions": partitions})
    write_durably(folder / "spool.json", about.encode())


def write_durably(path: Path, data: bytes | pa.Buffer) -> None:
    """Write a file so that its name appears only with all its bytes, on disk, in place."""
    partial = path.with_name(f".tmp-{os.getpid()}-{path.name}")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a partition for one append; the lock dies with its process."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for stale in folder.glob(".tmp-*"):
            stale.unlink(missing_ok=True)
        yield

"""A replayed file laid out once as numbered blocks, so that any range of it can be read at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet

from headway.errors import TopicError
from headway.flow.columns.peek import open_bytes
from headway.flow.columns.schema import Schema, exact_batch
from headway.flow.topics import ReplayedFile, ReplayedRecords

BLOCK_RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class Blocks:
    """A folder of blocks: `lines` of bytes still to be decoded, or `rows` that are columns."""

    folder: Path
    kind: str
    count: int
    fields: tuple[str, ...] = ()

    def read(self, first: int, stop: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Records `first` to `stop` as (number of the first, batch) pieces, a block at a time."""
        while first < stop:
            number = first // BLOCK_RECORDS
            end = min(stop, (number + 1) * BLOCK_RECORDS)
            block = read_block(self.folder / f"{number:08d}.arrow")
            yield first, block.slice(first - number * BLOCK_RECORDS, end - first)
            first = end


@lru_cache(maxsize=8)
def read_block(path: Path) -> pa.RecordBatch:
    """One block; the last few are kept, since neighbouring batches read the same block."""
    try:
        with pa.OSFile(str(path)) as file:
            return pa.ipc.open_file(file).read_all().combine_chunks().to_batches()[0]
    except (OSError, pa.ArrowInvalid, IndexError) as error:
        raise TopicError(
            f"block {path} of a replayed topic cannot be read ({error}); delete its folder to have "
            "it laid out again"
        ) from error


def lay_out(topic: ReplayedFile | ReplayedRecords, schema: Schema, folder: Path) -> Blocks:
    """Lay a topic out under `folder`, or find it there from an earlier start of the same run."""
    stamp = stamp_of(topic)
    about = folder / "blocks.json"
    if about.exists():
        known = json.loads(about.read_text())
        if known["stamp"] != stamp:
            raise TopicError(
                f"{stamp['what']} has changed since this run began ({known['stamp']} then, "
                f"{stamp} now); start a new run folder to replay the new data"
            )
        return Blocks(folder, known["kind"], known["count"], tuple(known["fields"]))
    folder.mkdir(parents=True, exist_ok=True)
    fields: tuple[str, ...] = ()
    match topic:
        case ReplayedRecords(records):
            kind, count = "rows", write_blocks(folder, record_blocks(records, schema))
        case ReplayedFile(path, "parquet"):
            kind, count = "rows", write_blocks(folder, parquet_blocks(path, schema))
        case ReplayedFile():
            kind, fields = "lines", header_of(topic)
            count = write_blocks(folder, line_blocks(topic, skip_header=bool(fields)))
    known = {"stamp": stamp, "kind": kind, "count": count, "fields": fields}
    partial = about.with_suffix(".tmp")
    partial.write_text(json.dumps(known))
    partial.replace(about)
    return Blocks(folder, kind, count, fields)


def stamp_of(topic: ReplayedFile | ReplayedRecords) -> dict[str, Any]:
    """What must not change between two starts of one run."""
    if isinstance(topic, ReplayedRecords):
        return {"what": "the list of records", "count": len(topic.records)}
    about = topic.path.stat()
    return {"what": str(topic.path), "bytes": about.st_size, "mtime_ns": about.st_mtime_ns}


def write_blocks(folder: Path, blocks: Iterable[pa.RecordBatch]) -> int:
    """Write each block to its numbered file; return how many records there are."""
    count = 0
    for number, block in enumerate(blocks):
        path = folder / f"{number:08d}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, block.schema) as out:
            out.write_batch(block)
        count += block.num_rows
    return count


def header_of(topic: ReplayedFile) -> tuple[str, ...]:
    """The column names in a CSV file's first line."""
    if topic.format != "csv" or not topic.header:
        return ()
    with open_bytes(topic.path) as file:
        first = file.readline().decode().rstrip("\r\n")
    return tuple(cell.strip().strip('"') for cell in first.split(topic.delimiter))


def line_blocks(topic: ReplayedFile, skip_header: bool) -> Iterator[pa.RecordBatch]:
    """The lines of a file, without their ends, a block at a time."""
    with open_bytes(topic.path) as file:
        if skip_header:
            file.readline()
        while lines := [line.rstrip(b"\r\n") for line in islice(file, BLOCK_RECORDS)]:
            yield pa.RecordBatch.from_arrays([pa.array(lines, pa.binary())], names=["raw"])


def parquet_blocks(path: Path, schema: Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file in blocks of equal size."""
    wanted = schema.arrow()
    table = pyarrow.parquet.read_table(path, columns=list(wanted.names)).cast(wanted)
    for start in range(0, table.num_rows, BLOCK_RECORDS):
        part = table.slice(start, BLOCK_RECORDS).combine_chunks()
        yield good_block(part.to_batches()[0])


def record_blocks(records: tuple[Any, ...], schema: Schema) -> Iterator[pa.RecordBatch]:
    """Records at hand as columns, a block at a time."""
    for start in range(0, len(records), BLOCK_RECORDS):
        yield record_block(records[start : start + BLOCK_RECORDS], schema)


def record_block(records: tuple[Any, ...], schema: Schema) -> pa.RecordBatch:
    """One block of records; those that do not fit the schema are null with a reason."""
    wanted = schema.arrow()
    try:
        return good_block(exact_batch(records, wanted))
    except (pa.ArrowException, TypeError, ValueError, AttributeError):
        pass
    rows: list[Any] = []
    raws: list[bytes | None] = []
    reasons: list[str | None] = []
    for record in records:
        try:
            exact_batch([record], wanted)
            rows.append(record)
            raws.append(None)
            reasons.append(None)
        except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
            rows.append({})
            raws.append(orjson.dumps(record, default=repr))
            reasons.append(str(error))
    return with_reasons(pa.RecordBatch.from_pylist(rows, schema=wanted), raws, reasons)


def good_block(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A block in which every record is good."""
    nothing = [None] * batch.num_rows
    return with_reasons(batch, nothing, nothing)


def with_reasons(batch: pa.RecordBatch, raws: list[Any], reasons: list[Any]) -> pa.RecordBatch:
    """Add the two columns that say what is wrong with a record."""
    return batch.append_column("__raw", pa.array(raws, pa.binary())).append_column(
        "__reason", pa.array(reasons, pa.string())
    )

"""Where records go that cannot be answered: kept with their bytes, their reason and their place."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from headway.engine.topics.port import Slice
from headway.engine.topics.spool import write_durably

# unreadable, late, failed, expired: fates of a record; unfinished: a window whose finalize raised;
# blank: offsets that hold no record
Why = Literal["unreadable", "late", "failed", "expired", "unfinished", "blank"]
NO_RECORDS = ("unfinished", "blank")
NAME = re.compile(r"(.+)@(\d+)@(\d{20})-(\d{20})@(\w+)@(\d+)\.arrow")


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One record set aside."""

    offset: int
    raw: bytes
    reason: str


def set_aside(
    folder: Path, source: str, piece: Slice, why: Why, records: Sequence[Quarantined]
) -> None:
    """Keep records of one slice in a file that is named after the slice.

    A replayed batch reads the same slices, so it writes the same files: nothing doubles.
    """
    if not records:
        return
    table = pa.table(
        {
            "offset": pa.array([record.offset for record in records], pa.int64()),
            "reason": pa.array([record.reason for record in records], pa.string()),
            "raw": pa.array([record.raw for record in records], pa.binary()),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    put(place_for(folder, source, piece, why, len(records)), sink.getvalue())


def note(folder: Path, source: str, piece: Slice, why: Why, count: int) -> None:
    """Count what has no bytes to keep: records that are gone, offsets that hold none."""
    if count:
        put(place_for(folder, source, piece, why, count), b"")


def put(path: Path, data: bytes | pa.Buffer) -> None:
    """Write a file in place of what an attempt that came out otherwise has left."""
    write_durably(path, data)
    for other in attempts(path.parent / slice_of(path)):
        if other.name != path.name:
            other.unlink(missing_ok=True)


def slice_of(path: Path) -> str:
    """The name of a file without its count, which another attempt may find to be another."""
    return path.name.rpartition("@")[0]


def attempts(place: Path) -> list[Path]:
    """The files of one slice and reason, whatever their count."""
    return sorted(place.parent.glob(f"{glob.escape(place.name)}@*.arrow"))


def read_records(path: Path) -> pa.Table:
    """The records of one file: offset, reason, raw."""
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def place_for(folder: Path, source: str, piece: Slice, why: Why, count: int) -> Path:
    """The file of one slice and reason."""
    folder.mkdir(parents=True, exist_ok=True)
    range_ = f"{piece.first:020d}-{piece.stop:020d}"
    return folder / f"{source}@{piece.partition}@{range_}@{why}@{count}.arrow"


def count_by_reason(folder: Path) -> dict[str, int]:
    """How many records are in quarantine, by kind of reason, as the names of the files say.

    A record that failed in several ways (a map may have made many of it) is still one record.
    """
    counts: dict[str, int] = {}
    failed: set[tuple[str, str]] = set()
    for path in folder.iterdir() if folder.is_dir() else ():
        if match := NAME.fullmatch(path.name):
            if match[5] == "failed":
                failed.add((match[1], match[3]))
            else:
                counts[match[5]] = counts.get(match[5], 0) + int(match[6])
    return counts | ({"failed": len(failed)} if failed else {})


def count_records(folder: Path) -> int:
    """How many records are in quarantine, whatever the reason."""
    return sum(count for why, count in count_by_reason(folder).items() if why not in NO_RECORDS)


def read_quarantine(folder: Path) -> pa.Table:
    """Every record in a quarantine folder, with its source, partition and kind of reason."""
    tables = []
    for path in sorted(folder.glob("*.arrow")) if folder.is_dir() else []:
        if (match := NAME.fullmatch(path.name)) and path.stat().st_size:
            table = read_records(path)
            for name, value in (("why", match[5]), ("partition", match[2]), ("source", match[1])):
                table = table.add_column(0, name, pa.array([value] * table.num_rows))
            tables.append(table)
    return pa.concat_tables(tables) if tables else pa.table({"source": [], "offset": []})

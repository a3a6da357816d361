"""Made records as a file of JSON lines, with broken lines among them for tests of bad input."""

from __future__ import annotations

import gzip
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import orjson

from headway.flow.columns.schema import Schema
from headway.flow.topics import RecordMaker
from headway.workloads.makers.chance import below, chosen, hash_numbers

RECORDS_AT_ONCE = 10_000
BREAKAGES = ("cut off", "wrong type", "not JSON", "empty object")


def write_jsonl(
    maker: RecordMaker, path: str | Path, count: int, broken_share: float = 0.0, seed: int = 0
) -> int:
    """Write the first `count` records of a maker; return how many of the lines are broken.

    A path that ends in .gz is packed. The same arguments give the same bytes. Broken lines stand in
    for records: the file has `count` lines, and line n is whole or broken whatever `count` is.
    """
    path, broken_lines = Path(path), 0
    typed = typed_column(maker.schema)
    with path.open("wb") as raw, packing(raw, path.suffix == ".gz") as file:
        for first in range(0, count, RECORDS_AT_ONCE):
            stop = min(first + RECORDS_AT_ONCE, count)
            hashes = hash_numbers(first, stop, seed, "broken")
            broken = chosen(hashes, broken_share)
            kinds = below(hashes, len(BREAKAGES))
            records = maker.make(first, stop).to_pylist()
            for record, bad, kind in zip(records, broken, kinds, strict=True):
                line = break_record(record, BREAKAGES[kind], typed) if bad else dump(record)
                file.write(line + b"\n")
            broken_lines += int(np.count_nonzero(broken))
    return broken_lines


def packing(raw: IO[bytes], packed: bool) -> AbstractContextManager[IO[bytes]]:
    """A file that packs what it is given into `raw`, or `raw` itself."""
    if not packed:
        return nullcontext(raw)
    # A file name or a time in the gzip header would make equal contents differ.
    return cast(IO[bytes], gzip.GzipFile("", "wb", 6, raw, mtime=0))


def break_record(record: dict[str, Any], breakage: str, typed: str) -> bytes:
    """One line that is not the record: broken in the way that `breakage` names.

    >>> break_record({"key": "a", "value": 1}, "wrong type", "value")
    b'{"key":"a","value":["not a value"]}'
    """
    match breakage:
        case "cut off":
            line = dump(record)
            return line[: len(line) // 2]
        case "wrong type":
            return dump({**record, typed: [f"not a {typed}"]})
        case "not JSON":
            return b"-- this line is not JSON --"
    return b"{}"


def dump(record: dict[str, Any]) -> bytes:
    """A record as JSON, its times in UTC as ISO 8601 writes them."""
    return orjson.dumps(record, option=orjson.OPT_UTC_Z)


def typed_column(schema: str) -> str:
    """The column in which a wrong type shows: the last that is no text, since text takes all."""
    columns = Schema.parse(schema).columns
    return next((c.name for c in reversed(columns) if c.type != "string"), columns[-1].name)

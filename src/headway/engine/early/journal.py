"""Answers kept on disk: each chunk is there whole or not at all, so a crash costs one chunk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from headway.early.chunks import Chunk
from headway.engine.topics.spool import write_durably
from headway.errors import QueryError

HEAD = "question.json"


def claim(folder: Path, identity: str) -> None:
    """Make a folder keep the answers of one question, or refuse if it keeps those of another."""
    folder.mkdir(parents=True, exist_ok=True)
    head = folder / HEAD
    if not head.is_file():
        write_durably(head, json.dumps({"identity": identity}).encode())
    elif json.loads(head.read_text()).get("identity") != identity:
        raise QueryError(
            f"{folder} keeps the answers to another question, or over other data; "
            "choose another folder, or delete this one"
        )


class Journal:
    """The chunks of one question that are complete, in the order in which they were computed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def kept(self) -> Iterator[tuple[Chunk, pa.Table]]:
        """The chunks that are there, up to the first that is missing."""
        found = {}
        for path in self._folder.glob("*.arrow"):
            first, _, last = path.stem.partition("-")
            found[int(first)] = (Chunk(int(first), int(last)), path)
        next_first = 0
        while next_first in found:
            chunk, path = found[next_first]
            yield chunk, read_rows(path)
            next_first = chunk.last + 1

    def keep(self, chunk: Chunk, rows: pa.Table) -> None:
        """Keep one chunk; a crash before the renaming leaves no trace of it."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as out:
            out.write_table(rows)
        name = f"{chunk.first:06d}-{chunk.last:06d}.arrow"
        write_durably(self._folder / name, sink.getvalue())


def read_rows(path: Path) -> pa.Table:
    try:
        with pa.memory_map(str(path)) as source:
            return pa.ipc.open_file(source).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise QueryError(
            f"{path} is damaged ({error}); delete it and ask again to compute it anew"
        ) from error

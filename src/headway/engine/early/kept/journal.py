"""Answers kept on disk: each chunk is there whole or not at all, so a crash costs one chunk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from headway.early.chunks import Chunk, chunk_name, chunk_named, in_a_row
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
        found = (chunk_named(path.stem) for path in self._folder.glob("*.arrow"))
        for chunk in in_a_row(chunk for chunk in found if chunk is not None):
            yield chunk, read_rows(self._place(chunk))

    def keep(self, chunk: Chunk, rows: pa.Table) -> None:
        """Keep one chunk; a crash before the renaming leaves no trace of it."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as out:
            out.write_table(rows)
        write_durably(self._place(chunk), sink.getvalue())

    def _place(self, chunk: Chunk) -> Path:
        return self._folder / f"{chunk_name(chunk)}.arrow"


def read_rows(path: Path) -> pa.Table:
    try:
        with pa.memory_map(str(path)) as source:
            return pa.ipc.open_file(source).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise QueryError(
            f"{path} is damaged ({error}); delete it and ask again to compute it anew"
        ) from error

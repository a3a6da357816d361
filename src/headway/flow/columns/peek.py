"""A first look into a topic, to know its columns before anything runs."""

from __future__ import annotations

import gzip
import io
import json
from itertools import islice
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from headway.errors import FlowError
from headway.flow.columns.schema import Schema
from headway.flow.topics import ReplayedFile, Spooled, Topic

LINES_TO_SEE = 1_000


def peek_schema(topic: Topic) -> Schema | None:
    """The columns of a file or spool; None where there is nothing yet to look at."""
    match topic:
        case ReplayedFile(path, "parquet"):
            return Schema.from_arrow(pyarrow.parquet.read_schema(path))
        case ReplayedFile(path, "text"):
            return Schema.parse("value string")
        case ReplayedFile(path, kind):
            return infer_from_lines(topic, b"".join(first_lines(path)), kind)
        case Spooled(folder):
            return peek_spool(folder)
    return None


def first_lines(path: Path) -> list[bytes]:
    """The first lines of a text file, unpacked if it is packed."""
    with open_bytes(path) as file:
        return list(islice(file, LINES_TO_SEE))


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacking it when its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def infer_from_lines(topic: ReplayedFile, lines: bytes, kind: str) -> Schema:
    """Infer columns from the first lines, skipping those that are not records at all."""
    try:
        if kind == "csv":
            options = pyarrow.csv.ParseOptions(delimiter=topic.delimiter)
            return Schema.from_arrow(
                pyarrow.csv.read_csv(io.BytesIO(lines), parse_options=options).schema
            )
        good = [line for line in lines.splitlines() if is_json_object(line)]
        if not good:
            raise FlowError(f"{topic.path.name!r} holds no JSON object in its first lines")
        return Schema.from_arrow(pyarrow.json.read_json(io.BytesIO(b"\n".join(good))).schema)
    except pa.ArrowInvalid as error:
        raise FlowError(
            f"the columns of {topic.path.name!r} cannot be guessed ({error}); declare them with "
            "schema='name type, name type'"
        ) from error


def is_json_object(line: bytes) -> bool:
    """Whether a line is a JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def peek_spool(folder: Path) -> Schema | None:
    """The declared columns of a spool, if it exists already."""
    about = folder / "spool.json"
    if not about.is_file():
        return None
    return Schema.parse(json.loads(about.read_text())["schema"])

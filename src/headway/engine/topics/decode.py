"""Bytes into columns: a fast way for records that are all good, a patient one for the rest."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import fastavro
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from headway.errors import TopicError
from headway.flow.columns.schema import Schema


@dataclass(frozen=True, slots=True)
class Layout:
    """How a line becomes columns; `fields` are a CSV file's own, `avro` the schema of Avro's."""

    format: str
    schema: Schema
    delimiter: str = ","
    fields: tuple[str, ...] = ()
    avro: str = ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Columns of the good lines, the places of these lines, and what was wrong with the others."""

    batch: pa.RecordBatch
    good: list[int] | None  # None: all of them
    bad: tuple[tuple[int, str], ...] = ()


def decode(lines: Sequence[bytes], layout: Layout) -> Decoded:
    """Decode lines; no line is lost: each is a row of the batch or is named in `bad`."""
    if layout.format not in PARSERS:
        raise TopicError(f"format {layout.format!r} is not one that lines can have")
    fast = {"json": fast_json, "csv": fast_csv, "text": fast_text}.get(layout.format)
    if fast is None or not all(lines):
        return patiently(lines, layout)
    try:
        batch = fast(lines, layout)
        if batch.num_rows == len(lines):
            return Decoded(batch, None)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    return patiently(lines, layout)


def fast_json(lines: Sequence[bytes], layout: Layout) -> pa.RecordBatch:
    """All lines at once by Arrow's own reader."""
    wanted = layout.schema.arrow()
    options = pyarrow.json.ParseOptions(
        explicit_schema=with_text_for_times(wanted), unexpected_field_behavior="ignore"
    )
    if not all(line.startswith(b"{") and line.endswith(b"}") for line in lines):
        raise pa.ArrowInvalid("a line that is more or less than one object")
    data = one_per_line(lines)
    if b"}{" in data:
        raise pa.ArrowInvalid("perhaps two objects in a line")
    blocks = pyarrow.json.ReadOptions(block_size=max(len(data) + 1, 1 << 16), use_threads=False)
    table = pyarrow.json.read_json(io.BytesIO(data), read_options=blocks, parse_options=options)
    return conform(table, wanted)


def fast_csv(lines: Sequence[bytes], layout: Layout) -> pa.RecordBatch:
    """All lines at once by Arrow's own reader."""
    wanted = layout.schema.arrow()
    types = {field.name: field.type for field in with_text_for_times(wanted)}
    table = pyarrow.csv.read_csv(
        io.BytesIO(one_per_line(lines)),
        read_options=pyarrow.csv.ReadOptions(column_names=layout.fields, use_threads=False),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=layout.delimiter, ignore_empty_lines=False
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types,
            include_columns=[name for name in wanted.names if name in layout.fields],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    return conform(table, wanted)


def fast_text(lines: Sequence[bytes], layout: Layout) -> pa.RecordBatch:
    """Each line is a value."""
    values = pa.array(lines, pa.binary()).cast(pa.string())
    return pa.RecordBatch.from_arrays([values], names=list(layout.schema.names))


def one_per_line(lines: Sequence[bytes]) -> bytes:
    """Lines as one text; a value that has a line break in it must be read by itself."""
    data = b"\n".join(lines)
    if data.count(b"\n") != len(lines) - 1 or b"\r" in data:
        raise pa.ArrowInvalid("a record of several lines")
    return data


def with_text_for_times(wanted: pa.Schema) -> pa.Schema:
    """Read times as text: Arrow's readers refuse times with and without a zone in one column."""
    return pa.schema(
        [(f.name, pa.string() if pa.types.is_timestamp(f.type) else f.type) for f in wanted]
    )


def conform(table: pa.Table, wanted: pa.Schema) -> pa.RecordBatch:
    """Put columns in the declared order and types; a column that no line has is null."""
    arrays = []
    for field in wanted:
        if field.name not in table.column_names:
            arrays.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table.column(field.name).combine_chunks()
        if pa.types.is_timestamp(field.type) and pa.types.is_string(column.type):
            column = to_times(column)
        arrays.append(column.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def to_times(text: pa.Array) -> pa.Array:
    """Times written in ISO 8601, with a zone or, if without, in UTC."""
    zone = pa.timestamp("us", tz="UTC")
    try:
        return text.cast(pa.timestamp("us")).cast(zone)
    except pa.ArrowInvalid:
        pass
    try:
        return text.cast(zone)
    except pa.ArrowInvalid:
        return pa.array([to_time(value) for value in text.to_pylist()], zone)


def to_time(text: str | None) -> datetime | None:
    """One time in ISO 8601."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise pa.ArrowInvalid(f"{text!r} is not a time in ISO 8601") from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def patiently(lines: Sequence[bytes], layout: Layout) -> Decoded:
    """Line by line, so that a bad one harms no other."""
    rows: list[dict[str, Any]] = []
    good: list[int] = []
    bad: list[tuple[int, str]] = []
    parse = PARSERS[layout.format]
    fit = fitter(layout)
    for place, line in enumerate(lines):
        try:
            rows.append(fit(parse(line, layout)))
            good.append(place)
        except (ValueError, TypeError, pa.ArrowException) as error:
            bad.append((place, str(error)))
    return Decoded(pa.RecordBatch.from_pylist(rows, schema=layout.schema.arrow()), good, tuple(bad))


def parse_json(line: bytes, layout: Layout) -> dict[str, Any]:
    """A line that must be a JSON object."""
    try:
        record = orjson.loads(line)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, got {type(record).__name__}")
    return record


def parse_csv(line: bytes, layout: Layout) -> dict[str, Any]:
    """A line that must have as many fields as the file has columns."""
    cells = next(csv.reader([line.decode()], delimiter=layout.delimiter), [])
    if len(cells) != len(layout.fields):
        raise ValueError(f"expected {len(layout.fields)} fields, got {len(cells)}")
    named = dict(zip(layout.fields, cells, strict=True))
    return {name: cell if cell != "" else None for name, cell in named.items()}


def parse_text(line: bytes, layout: Layout) -> dict[str, Any]:
    """A line that must be UTF-8."""
    return {layout.schema.names[0]: line.decode()}


def parse_avro(line: bytes, layout: Layout) -> dict[str, Any]:
    """A record in Avro's binary form, as its declared schema has written it."""
    data = io.BytesIO(line)
    try:
        record = fastavro.schemaless_reader(data, avro_schema(layout.avro), None)
    except (EOFError, IndexError, KeyError, struct.error) as error:
        raise ValueError(f"not a record of the declared Avro schema: {error!r}") from error
    if data.read(1):
        raise ValueError("longer than a record of the declared Avro schema")
    if not isinstance(record, dict):
        raise ValueError(f"expected an Avro record, got {type(record).__name__}")
    return record


@lru_cache(maxsize=16)
def avro_schema(text: str) -> Any:
    """A schema, parsed once."""
    return fastavro.parse_schema(json.loads(text))


PARSERS: dict[str, Callable[[bytes, Layout], dict[str, Any]]] = {
    "json": parse_json,
    "csv": parse_csv,
    "text": parse_text,
    "avro": parse_avro,
}


def fitter(layout: Layout) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function that makes one parsed record fit the declared types, or raises."""
    wanted = [(field.name, field.type) for field in layout.schema.arrow()]
    from_text = layout.format == "csv"

    def fit(record: dict[str, Any]) -> dict[str, Any]:
        return {name: fit_value(name, record.get(name), kind, from_text) for name, kind in wanted}

    return fit


def fit_value(name: str, value: Any, kind: pa.DataType, from_text: bool) -> Any:
    """One value in its declared type."""
    if value is None:
        return None
    try:
        if pa.types.is_timestamp(kind):
            return value if isinstance(value, datetime) else to_time(value)
        if from_text:
            return pc.cast(pa.scalar(value), kind).as_py()
        if pa.types.is_integer(kind) and type(value) is not int:
            raise ValueError("not a whole number")
        return pa.scalar(value, kind).as_py()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"column {name!r}: {value!r} is not a {kind}") from error

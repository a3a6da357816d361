"""Answers of a pair as columns: packed where they are made, unpacked where they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from headway.errors import RunError
from headway.flow.columns.schema import exact_array
from headway.flow.pairs import BasePair

UTC_MICROS = pa.timestamp("us", tz="UTC")
SCHEMAS: dict[tuple[type, str, str], pa.Schema] = {}


def pack_answers(pair: BasePair, emitted: list[tuple[float, Any, Any]]) -> bytes | None:
    """Answers as Arrow bytes in the pair's declared columns; None when there are none."""
    if not emitted:
        return None
    batch = answers_batch(pair, emitted)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as out:
        out.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def answers_batch(pair: BasePair, emitted: list[tuple[float, Any, Any]]) -> pa.RecordBatch:
    """Answers as columns."""
    schema = answer_schema(pair)
    names = schema.names[2:]
    times, keys, values = zip(*emitted, strict=True)
    columns: list[Iterable[Any]] = [values] if len(names) == 1 else split_values(values, names)
    arrays = [times_of(pair, times), column_of(pair, "key", keys, schema.field("key").type)]
    for name, column in zip(names, columns, strict=True):
        arrays.append(column_of(pair, name, column, schema.field(name).type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def answer_schema(pair: BasePair) -> pa.Schema:
    """The columns of a pair's answers, parsed once: it takes longer than a thousand updates."""
    declared = (type(pair), pair.key, pair.emits)
    if declared not in SCHEMAS:
        SCHEMAS[declared] = pair.output().arrow()
    return SCHEMAS[declared]


def times_of(pair: BasePair, times: Iterable[float]) -> pa.Array:
    """Times in seconds as timestamps, or an error that names the pair."""
    try:
        micros = np.rint(np.array(times, dtype=np.float64) * 1e6)
        if not (np.abs(micros) < 2.0**63).all():
            raise ValueError("it is not finite, or too large")
    except (TypeError, ValueError) as error:
        raise RunError(
            f"{pair.name} emitted a time that is no number of seconds: {error}. Emit the record's "
            "time, or another number"
        ) from error
    return pa.array(micros.astype(np.int64)).cast(UTC_MICROS)


def split_values(values: Iterable[Any], names: list[str]) -> list[Iterable[Any]]:
    """Values of several columns, each a dict by name or a sequence in order, as columns."""
    rows = []
    for value in values:
        row = tuple(map(value.get, names)) if isinstance(value, dict) else tuple(value)
        if len(row) != len(names) or (isinstance(value, dict) and not value.keys() >= set(names)):
            raise RunError(f"a value must hold the columns {', '.join(names)}; got {value!r}")
        rows.append(row)
    return list(zip(*rows, strict=True))


def column_of(pair: BasePair, name: str, values: Iterable[Any], kind: pa.DataType) -> pa.Array:
    """One column in its declared type, or an error that names the pair and the column."""
    try:
        return exact_array(values, kind)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise RunError(
            f"{pair.name} emitted a value for {name!r} that is not a {kind}: {error}. Emit what "
            f"`emits` declares, or declare what it emits"
        ) from error


def unpack_answers(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of packed answers."""
    for packed in batch.column(0):
        with pa.ipc.open_stream(pa.BufferReader(packed.as_buffer())) as stream:
            yield from stream

"""How the records of a bucket travel from map to reduce.

Records that no Python map has touched stay columns of Arrow all the way, so that their Python
objects are made once, where they are used. What a map has made is pickled.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headway.engine.pairs.columns import to_rows, to_values

Numbers = NDArray[np.int64]
Mapped = tuple[int, float, Any, Any]  # row in the task, time, key, value
NAN = float("nan")
NO_NUMBERS: Numbers = np.empty(0, dtype=np.int64)
ARRIVAL, SEQ, TIME = "__arrival_us", "__seq", "__time_us"


class PackedRow(NamedTuple):
    """What one task has packed for a bucket, and which windows have closed, if it was told."""

    closed_us: float | None
    records: bytes | None


@dataclass(slots=True)
class Incoming:
    """The records of one bucket in one batch, in the order in which they arrived."""

    arrivals: Numbers = field(default_factory=lambda: NO_NUMBERS)
    seqs: Numbers = field(default_factory=lambda: NO_NUMBERS)
    times: list[float] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    closed_us: int | None = None


def pack_columns(rows: pa.Table, buckets: NDArray[np.uint32]) -> dict[int, bytes]:
    """The rows of each bucket as Arrow's bytes, in the order in which they stand."""
    # numpy sorts 16-bit numbers by radix, in linear time.
    small = buckets.astype(np.uint16) if buckets.max() < 2**16 else buckets
    order = np.argsort(small, kind="stable")
    sorted_rows = rows.take(pa.array(order)).combine_chunks()
    found, starts = np.unique(buckets[order], return_index=True)
    ends = np.append(starts[1:], len(order))
    return {
        int(bucket): arrow_bytes(sorted_rows.slice(start, end - start))
        for bucket, start, end in zip(found, starts.tolist(), ends.tolist(), strict=True)
    }


def arrow_bytes(rows: pa.Table) -> bytes:
    """Rows in Arrow's stream format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as out:
        out.write_table(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def pack_mapped(records: Iterable[Mapped], arrivals: Numbers, seqs: Numbers) -> bytes:
    """What a map has made, with the arrival and place of the row that it was made from."""
    rows, times, keys, values = zip(*records, strict=True)
    places = np.array(rows, dtype=np.int64)
    columns = (arrivals[places], seqs[places], list(times), list(keys), list(values))
    return pickle.dumps(columns, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(rows: Sequence[PackedRow], mapped: bool, key: tuple[str, ...]) -> Incoming:
    """Open parcels and put their records in order of arrival, ties by place in the topic."""
    packed = [row.records for row in rows if row.records is not None]
    incoming = Incoming()
    if packed:
        incoming = open_mapped(packed) if mapped else open_columns(packed, key)
    for row in rows:
        if row.closed_us is not None and row.closed_us == row.closed_us:
            incoming.closed_us = int(row.closed_us)
    return incoming


def open_columns(packed: list[bytes], key: tuple[str, ...]) -> Incoming:
    """Records out of Arrow's bytes."""
    tables = [pa.ipc.open_stream(data).read_all() for data in packed]
    rows = pa.concat_tables(tables).combine_chunks()
    order = order_of(rows.column(ARRIVAL).to_numpy(), rows.column(SEQ).to_numpy())
    if order is not None:
        rows = rows.take(pa.array(order)).combine_chunks()
    batch = rows.to_batches()[0]
    names = [name for name in batch.schema.names if not name.startswith("__")]
    return Incoming(
        batch.column(ARRIVAL).to_numpy(),
        batch.column(SEQ).to_numpy(),
        (batch.column(TIME).to_numpy() / 1e6).tolist(),
        keys_of(batch, key),
        to_rows(batch, names),
    )


def keys_of(batch: pa.RecordBatch, key: tuple[str, ...]) -> list[Any]:
    """The key of each row: a value, a tuple of values, or None for a flow without a key."""
    if not key:
        return [None] * batch.num_rows
    columns = [one_nan(batch.column(name)) for name in key]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def one_nan(column: pa.Array) -> list[Any]:
    """The values of a key's column, where all that are no number are one and the same object.

    To Python two of them are two keys, so each record would get a state of its own.
    """
    values = to_values(column)
    if not pa.types.is_floating(column.type):
        return values
    return [NAN if value is not None and value != value else value for value in values]


def open_mapped(packed: list[bytes]) -> Incoming:
    """Records out of pickles."""
    parts = [pickle.loads(data) for data in packed]
    incoming = Incoming(
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        [time for part in parts for time in part[2]],
        [key for part in parts for key in part[3]],
        [value for part in parts for value in part[4]],
    )
    order = order_of(incoming.arrivals, incoming.seqs)
    if order is not None:
        places = order.tolist()
        incoming = Incoming(
            incoming.arrivals[order],
            incoming.seqs[order],
            [incoming.times[n] for n in places],
            [incoming.keys[n] for n in places],
            [incoming.values[n] for n in places],
        )
    return incoming


def order_of(arrivals: Numbers, seqs: Numbers) -> Numbers | None:
    """The places that sort records by arrival, then by place; None when they are sorted."""
    later = arrivals[1:] > arrivals[:-1]
    tied = (arrivals[1:] == arrivals[:-1]) & (seqs[1:] >= seqs[:-1])
    if bool((later | tied).all()):
        return None
    return np.lexsort((seqs, arrivals))

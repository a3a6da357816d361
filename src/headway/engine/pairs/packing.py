"""The map side of a pair: runs its map and packs what comes out, one parcel per bucket of keys."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from headway.engine.pairs.columns import to_rows, to_values
from headway.engine.pairs.failures import Failures
from headway.flow.pairs import BasePair
from headway.flow.steps import PairStep

PACKED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("first", pa.int64()),
        ("closed_us", pa.int64()),
        ("records", pa.binary()),
    ]
)
NO_RECORD = -1


class BucketOf(dict[Any, int]):
    """Key to bucket, remembered; the same in every process and every Python."""

    def __init__(self, buckets: int) -> None:
        super().__init__()
        self._buckets = buckets

    def __missing__(self, key: Any) -> int:
        if len(self) > 1_000_000:
            self.clear()
        data = key.encode() if isinstance(key, str) else pickle.dumps(key, protocol=4)
        bucket = self[key] = zlib.crc32(data) % self._buckets
        return bucket


@dataclass(slots=True)
class Parcel:
    """The mapped records of one bucket, column by column."""

    orders: list[tuple[int, int]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


class Packer:
    """Packs the rows of one task; `orders` keep what arrived first for the reduce side."""

    def __init__(self, step: PairStep, buckets: int, quarantine: Path) -> None:
        self._step, self._buckets = step, buckets
        self._failures = Failures(step, quarantine)
        self._parcels: dict[int, Parcel] = {}
        self._bucket_of = BucketOf(buckets)
        self._closed_us: int | None = None
        self._maps = type(step.pair).map is not BasePair.map

    def add(self, batch: pa.RecordBatch) -> None:
        """Map and pack the rows of one batch."""
        seqs = batch.column("__seq").to_numpy()
        marks = seqs == NO_RECORD
        if marks.any():
            place = int(marks.argmax())
            self._closed_us = int(batch.column("__time_us")[place].as_py())
            batch = batch.filter(pa.array(~marks))
        if not batch.num_rows:
            return
        names = [name for name in batch.schema.names if not name.startswith("__")]
        rows = to_rows(batch, names) if names else [{}] * batch.num_rows
        times_us = batch.column("__time_us").to_numpy()
        orders = zip(
            to_values(batch.column("__arrival_us")), to_values(batch.column("__seq")), strict=True
        )
        inputs = zip(orders, (times_us / 1e6).tolist(), self._keys(batch), rows, strict=True)
        if self._maps:
            self._pack(self._mapped(inputs))
        else:
            self._pack(inputs)

    def _keys(self, batch: pa.RecordBatch) -> Iterable[Any]:
        key = self._step.key
        if not key:
            return [None] * batch.num_rows
        columns = [to_values(batch.column(name)) for name in key]
        return columns[0] if len(columns) == 1 else zip(*columns, strict=True)

    def _mapped(self, inputs: Iterable[tuple[Any, float, Any, Any]]) -> Iterable[Any]:
        run_map: Callable[[float, Any, Any], Any] = self._step.pair.map
        for order, time, key, value in inputs:
            try:
                produced = list(run_map(time, key, value))
            except Exception:
                self._failures.handle("map", order[1], key, value)
                continue
            for made_time, made_key, made_value in produced:
                yield order, made_time, made_key, made_value

    def _pack(self, mapped: Iterable[tuple[Any, float, Any, Any]]) -> None:
        parcels, bucket_of = self._parcels, self._bucket_of
        for order, time, key, value in mapped:
            bucket = bucket_of[key]
            parcel = parcels.get(bucket)
            if parcel is None:
                parcel = parcels[bucket] = Parcel()
            parcel.orders.append(order)
            parcel.times.append(time)
            parcel.keys.append(key)
            parcel.values.append(value)

    def finish(self) -> pa.RecordBatch:
        """One row per bucket with records; a marker reaches every bucket."""
        buckets = range(self._buckets) if self._closed_us is not None else sorted(self._parcels)
        rows = [self._row(bucket) for bucket in buckets]
        return pa.RecordBatch.from_pylist(rows, schema=PACKED)

    def _row(self, bucket: int) -> dict[str, Any]:
        parcel = self._parcels.get(bucket)
        packed = None
        if parcel is not None:
            columns = (parcel.orders, parcel.times, parcel.keys, parcel.values)
            packed = pickle.dumps(columns, protocol=pickle.HIGHEST_PROTOCOL)
        first = min(parcel.orders)[0] if parcel is not None else 0
        return {"bucket": bucket, "first": first, "closed_us": self._closed_us, "records": packed}

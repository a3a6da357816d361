"""The map side of a pair: runs its map and packs what comes out, one parcel per bucket of keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from headway.engine.pairs.columns import to_rows
from headway.engine.pairs.failures import Failures
from headway.engine.pairs.parcels import (
    ARRIVAL,
    SEQ,
    TIME,
    Mapped,
    Numbers,
    keys_of,
    pack_columns,
    pack_mapped,
)
from headway.engine.pairs.placing import bucket_table, buckets_of
from headway.flow.pairs import BasePair
from headway.flow.steps import PairStep

PACKED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("closed_us", pa.int64()),
        ("records", pa.binary()),
    ]
)
NO_RECORD = -1


def maps(step: PairStep) -> bool:
    """Whether a pair has a map of its own; the default one changes nothing and is not called."""
    return type(step.pair).map is not BasePair.map


class Packer:
    """Packs the rows of one task; each keeps its arrival and place for the reduce side."""

    def __init__(self, step: PairStep, buckets: int, quarantine: Path) -> None:
        self._step, self._buckets = step, buckets
        self._failures = Failures(step, quarantine)
        self._batches: list[pa.RecordBatch] = []
        self._closed_us: int | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the rows of one batch."""
        marks = batch.column(SEQ).to_numpy() == NO_RECORD
        if marks.any():
            place = int(marks.argmax())
            self._closed_us = int(batch.column(TIME)[place].as_py())
            batch = batch.filter(pa.array(~marks))
        if batch.num_rows:
            self._batches.append(batch)

    def finish(self) -> pa.RecordBatch:
        """One row per bucket with records; a marker reaches every bucket."""
        parcels = self._parcels() if self._batches else {}
        buckets = range(self._buckets) if self._closed_us is not None else sorted(parcels)
        rows = [
            {"bucket": n, "closed_us": self._closed_us, "records": parcels.get(n)} for n in buckets
        ]
        return pa.RecordBatch.from_pylist(rows, schema=PACKED)

    def _parcels(self) -> dict[int, bytes]:
        table = pa.Table.from_batches(self._batches).combine_chunks()
        own = [name for name in table.column_names if not name.startswith("__")]
        rows = table.select([*own, ARRIVAL, SEQ, TIME])
        if maps(self._step):
            return self._mapped_parcels(rows.to_batches()[0], own)
        keys = [rows.column(name).combine_chunks() for name in self._step.key]
        return pack_columns(rows, buckets_of(keys, rows.num_rows, self._buckets))

    def _mapped_parcels(self, batch: pa.RecordBatch, own: list[str]) -> dict[int, bytes]:
        arrivals, seqs = batch.column(ARRIVAL).to_numpy(), batch.column(SEQ).to_numpy()
        bucket_of = bucket_table(self._buckets)
        parcels: dict[int, list[Mapped]] = defaultdict(list)
        for record in self._mapped(batch, to_rows(batch, own), seqs):
            parcels[bucket_of[record[2]]].append(record)
        return {n: pack_mapped(records, arrivals, seqs) for n, records in parcels.items()}

    def _mapped(
        self, batch: pa.RecordBatch, values: list[dict[str, Any]], seqs: Numbers
    ) -> Iterable[Mapped]:
        run_map: Callable[[float, Any, Any], Any] = self._step.pair.map
        times = (np.asarray(batch.column(TIME).to_numpy()) / 1e6).tolist()
        inputs = zip(times, keys_of(batch, self._step.key), values, strict=True)
        for row, (time, key, value) in enumerate(inputs):
            try:
                produced = list(run_map(time, key, value))
            except Exception:
                self._failures.handle("map", int(seqs[row]), key, value)
                continue
            for made_time, made_key, made_value in produced:
                yield row, made_time, made_key, made_value

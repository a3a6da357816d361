"""A pair without Spark: tasks pack, buckets update, and a dict stands for the state store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from headway.engine.pairs.buckets import BucketStates, Held
from headway.engine.pairs.packing import NO_RECORD, Packer
from headway.engine.pairs.parcels import PackedRow
from headway.engine.pairs.unpack import unpack_answers
from headway.flow.pairs import BasePair
from headway.flow.steps import OnError, PairStep
from headway.flow.windows import Window

BUCKETS = 4


def step_of(
    pair: BasePair, *, window: Window | None = None, on_error: OnError = "stop"
) -> PairStep:
    return PairStep("pair", ("source",), pair, ("key",), window, on_error)


def task(*records: tuple[int, int, str, int]) -> pa.RecordBatch:
    """Rows of one task from (arrival, seq, key, value); a record's time is its arrival."""
    arrivals, seqs, keys, values = zip(*records, strict=True)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(keys, pa.string()),
            pa.array(values, pa.int64()),
            pa.array(arrivals, pa.int64()),
            pa.array(arrivals, pa.int64()),
            pa.array(seqs, pa.int64()),
        ],
        ["key", "value", "__arrival_us", "__time_us", "__seq"],
    )


def marker(closed_us: int) -> pa.RecordBatch:
    """A row that is no record but says which windows are closed."""
    row = {"key": None, "value": None, "__arrival_us": None}
    row |= {"__time_us": closed_us, "__seq": NO_RECORD}
    return pa.RecordBatch.from_pylist([row], schema=task((0, 0, "", 0)).schema)


@dataclass
class Machine:
    """Runs batches of a step; `store` is what Spark's state store would hold."""

    step: PairStep
    quarantine: Path
    store: dict[int, Held] = field(default_factory=dict)
    states: BucketStates = field(init=False)

    def __post_init__(self) -> None:
        self.states = BucketStates(self.step, self.quarantine)

    def parcels(self, tasks: Sequence[Sequence[pa.RecordBatch]]) -> dict[int, list[PackedRow]]:
        """What the map side sends to each bucket."""
        sent: dict[int, list[PackedRow]] = {}
        for batches in tasks:
            packer = Packer(self.step, BUCKETS, self.quarantine)
            for batch in batches:
                packer.add(batch)
            for row in packer.finish().to_pylist():
                parcel = PackedRow(row["closed_us"], row["records"])
                sent.setdefault(row["bucket"], []).append(parcel)
        return sent

    def batch(self, *tasks: Sequence[pa.RecordBatch]) -> list[dict[str, Any]]:
        """Run one batch; its states are stored when all of it went well, as Spark does it."""
        fresh: dict[int, Held] = {}
        packed: list[bytes] = []
        for bucket, rows in self.parcels(tasks).items():
            fresh[bucket], answers = self.states.update(bucket, rows, self.store.get(bucket))
            if answers is not None:
                packed.append(answers)
        self.store |= fresh
        column = pa.RecordBatch.from_arrays([pa.array(packed, pa.binary())], ["answers"])
        return [row for batch in unpack_answers(column) for row in batch.to_pylist()]

"""Narrow records, a key and a number, for measuring how many of them a second go through."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from headway.flow.columns.schema import Schema
from headway.workloads.makers.chance import below, hash_numbers
from headway.workloads.makers.zipf import draw_ranks, name_ranks

KEYED = "key string, value bigint"
COLUMNS = Schema.parse(KEYED).arrow()


@dataclass(frozen=True, slots=True)
class Keyed:
    """Keys from 'key-0', the most frequent, each with a value below 1000; `exponent` 0 is uniform.

    >>> Keyed(keys=3).make(0, 2).schema.names
    ['key', 'value']
    """

    keys: int = 10_000
    exponent: float = 0.0
    seed: int = 0
    schema = KEYED

    def make(self, first: int, stop: int) -> pa.RecordBatch:
        """Records `first` to `stop`, a function of these numbers and the seed alone."""
        hashes = hash_numbers(first, stop, self.seed, "key")
        ranks = draw_ranks(hashes, self.keys, self.exponent)
        values = below(hash_numbers(first, stop, self.seed, "value"), 1_000)
        return pa.RecordBatch.from_arrays(
            [name_ranks("key-", ranks), pa.array(values)], schema=COLUMNS
        )

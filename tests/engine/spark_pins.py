"""A tiny source of Spark for tests that pin how Spark itself behaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition


class Numbers(InputPartition):
    """A range of numbers."""

    def __init__(self, first: int, stop: int) -> None:
        self.first, self.stop = first, stop


class NumberReader(DataSourceStreamReader):
    """Offers `step` numbers a batch up to `count`, then nothing more."""

    def __init__(self, step: int, count: int) -> None:
        self._step, self._count = step, count

    def initialOffset(self) -> dict[str, int]:
        return {"n": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
        return {"n": min(self._count, start["n"] + self._step)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [Numbers(start["n"], end["n"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Numbers)
        values = list(range(partition.first, partition.stop))
        times = pa.array([n * 1_000_000 for n in values], pa.int64())
        yield pa.RecordBatch.from_arrays(
            [pa.array(values, pa.int64()), times.cast(pa.timestamp("us", tz="UTC"))],
            names=["n", "time"],
        )


class NumberSource(DataSource):
    """Number n has time n seconds."""

    @classmethod
    def name(cls) -> str:
        return "numbers"

    def schema(self) -> str:
        return "n bigint, time timestamp"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return NumberReader(int(self.options["step"]), int(self.options["count"]))

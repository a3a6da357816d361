"""A backlog of made records as a plain Python source of Spark: fixed batches, and nothing else."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from headway.flow.columns.schema import Schema
from headway.flow.topics import RecordMaker

FORMAT = "backlog"
PIECE_RECORDS = 20_000  # rows in one Arrow batch, as many as headway's own replay hands out


@dataclass(frozen=True, slots=True)
class Backlog:
    """Records that all wait when the query starts.

    columns      what the query reads of a record; the others are never handed to Spark
    batch_rows   records in each batch
    readers      tasks that read a batch
    """

    maker: RecordMaker
    count: int
    batch_rows: int
    columns: tuple[str, ...]
    readers: int = 2

    @property
    def batches(self) -> int:
        """How many batches the backlog is worked off in."""
        return -(-self.count // self.batch_rows)

    def shares(self, first: int, stop: int) -> list[tuple[int, int]]:
        """Cut a batch into a range of records for each reader.

        >>> Backlog(None, 10, 5, ()).shares(5, 10)
        [(5, 8), (8, 10)]
        """
        room = -(-(stop - first) // self.readers)
        return [(begin, min(stop, begin + room)) for begin in range(first, stop, room)]


@dataclass
class Share(InputPartition):
    """The records that one task reads of a batch."""

    def __init__(self, first: int, stop: int) -> None:
        self.first, self.stop = first, stop


class BacklogReader(DataSourceStreamReader):
    """Moves on by `batch_rows` records at each trigger, until there are no more."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog

    def initialOffset(self) -> dict[str, Any]:
        """The first record."""
        return {"next": 0}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """The end of the next batch."""
        return {"next": min(self._backlog.count, start["next"] + self._backlog.batch_rows)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A share for each reader."""
        return [Share(*share) for share in self._backlog.shares(start["next"], end["next"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of a share, made as they are read."""
        assert isinstance(partition, Share)
        for first in range(partition.first, partition.stop, PIECE_RECORDS):
            stop = min(partition.stop, first + PIECE_RECORDS)
            yield self._backlog.maker.make(first, stop).select(list(self._backlog.columns))


class BacklogSource(DataSource):
    """The source under the name by which Spark knows it."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._backlog: Backlog = pickle.loads(base64.b64decode(options["backlog"]))

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> str:
        """The columns that the query reads."""
        return str(Schema.parse(self._backlog.maker.schema).only(self._backlog.columns))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """A reader for one query."""
        return BacklogReader(self._backlog)


def read_backlog(spark: SparkSession, backlog: Backlog) -> DataFrame:
    """The backlog as a streaming DataFrame."""
    spark.dataSource.register(BacklogSource)
    pickled: bytes = cloudpickle.dumps(backlog)  # type: ignore[no-untyped-call]
    return (
        spark.readStream.format(FORMAT).option("backlog", base64.b64encode(pickled).decode()).load()
    )

"""A backlog as Parquet files, read by Spark's own file source."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

from headway.engine.stock.backlog import Backlog


def write_files(backlog: Backlog, folder: Path) -> None:
    """Write each reader's share of each batch to a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for batch in range(backlog.batches):
        first = batch * backlog.batch_rows
        stop = min(backlog.count, first + backlog.batch_rows)
        for place, share in enumerate(backlog.shares(first, stop)):
            rows = pa.Table.from_batches([backlog.maker.make(*share)])
            path = folder / f"{batch:06d}-{place}.parquet"
            pyarrow.parquet.write_table(rows.select(list(backlog.columns)), path)


def read_files(spark: SparkSession, folder: Path, files_a_batch: int) -> DataFrame:
    """The files as a streaming DataFrame, a few of them in each batch."""
    schema = spark.read.parquet(str(folder)).schema
    return (
        spark.readStream.schema(schema)
        .option("maxFilesPerTrigger", files_a_batch)
        .parquet(str(folder))
    )

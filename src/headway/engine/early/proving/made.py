"""Tables that SQL makes out of nothing or of files, annotated: what benchmarks ask early."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from headway.early.sampling import Sampling
from headway.engine.early.sources import format_of, our_spark
from headway.engine.early.storage import Stored, annotate


def made_table(sql: str, sampling: Sampling, folder: Path) -> Stored:
    """The rows of a query that reads files or nothing, kept with their progress."""
    return annotate(our_spark().sql(sql), sampling, folder, "made")


def name_file(spark: SparkSession, name: str, path: Path, schema: str) -> None:
    """Let the queries of a session read a file of records by a name."""
    reader = spark.read.schema(schema).option("header", True)
    reader.format(format_of(path)).load(str(path)).createOrReplaceTempView(name)

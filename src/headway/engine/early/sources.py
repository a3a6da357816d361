"""What a table can be given as: a DataFrame, the name of a table, or files."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headway.engine.spark.session import check_kind, open_session
from headway.errors import QueryError

READERS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".orc": "orc"}


def our_spark() -> SparkSession:
    """The session that is there, or a local one of our own."""
    active = SparkSession.getActiveSession()
    if active is not None:
        check_kind(active)
        return active
    return open_session(f"local[{os.cpu_count() or 1}]")


def read_source(data: DataFrame | str | Path, spark: SparkSession | None) -> tuple[DataFrame, str]:
    """The data as a DataFrame, and what it is called in a manifest."""
    if isinstance(data, DataFrame):
        check_kind(data.sparkSession)
        return data, "a DataFrame"
    session = spark or our_spark()
    path = Path(data)
    if not path.exists():
        if isinstance(data, str) and session.catalog.tableExists(data):
            return session.table(data), data
        raise QueryError(f"{data} is neither a file or folder nor a table of this Spark session")
    kind = format_of(path)
    reader = session.read
    if kind == "csv":
        reader = reader.option("header", True).option("inferSchema", True)
    return reader.format(kind).load(str(path)), str(path)


def format_of(path: Path) -> str:
    """The format of a file or of the files in a folder, told by their endings."""
    names = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for name in names:
        endings = [ending for ending in name.suffixes if ending in READERS]
        if endings:
            return READERS[endings[-1]]
    raise QueryError(
        f"the format of {path} is not known by its ending; there are readers for "
        f"{', '.join(READERS)}"
    )

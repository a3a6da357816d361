"""Where the rows of a chunk are kept between stages: nowhere, in Spark's memory, or on disk.

Without a folder a stage is computed by the job that reads it, and what is read again stays cached
where it was computed, so nothing crosses the network (paper 5, section 3.3). On disk each chunk is
there whole or not at all, and a restart finds it (sections 4.1 and 5.3.5).
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructType

from headway.early.chunks import Chunk, chunk_name, chunk_named, in_a_row
from headway.early.progress import FROM, UNTIL
from headway.engine.early.stages.handed import Part
from headway.engine.early.states import let_go, put_by
from headway.engine.early.views import told_when_run


class Below:
    """What rows are made of that are planned and not computed yet; it is let go once."""

    def __init__(self, let_go: Callable[[], None]) -> None:
        self._left = [let_go]
        self._lock = threading.Lock()

    def let_go(self) -> None:
        """The rows are computed, or nobody wants them any more."""
        with self._lock:
            left, self._left = self._left, []
        for call in left:
            call()


@dataclass(frozen=True, slots=True)
class InMemory:
    """Rows that the next job computes, under a name that every session of the application knows.

    What they are made of stays as long as they may still be computed from it.
    """

    chunk: Chunk
    view: str
    frame: DataFrame
    below: Below

    def read(self, spark: SparkSession) -> DataFrame:
        return spark.table(f"global_temp.{self.view}")

    def compute(self) -> None:
        """Compute rows that stay, while the jobs that read them are still being planned."""
        execution: Any = self.frame._jdf.queryExecution()
        with told_when_run():
            execution.toRdd().count()
        self.below.let_go()

    def drop(self) -> None:
        self.frame.sparkSession.catalog.dropGlobalTempView(self.view)
        let_go(self.frame)
        self.below.let_go()


def held_in_memory(
    chunk: Chunk, frame: DataFrame, below: Below, read_again: bool, now: bool
) -> InMemory:
    """Plan a chunk; what is read more than once is computed `now` or by who reads it, and stays.

    It is kept as rows and not as a cached query: those that read it would otherwise plan all of it
    again, chunk by chunk.
    """
    view = f"hw_{uuid4().hex}"
    with told_when_run():  # planning runs what is sent to all tasks
        kept = put_by(frame, now) if read_again else frame
    kept.createGlobalTempView(view)
    if read_again and now:
        below.let_go()
    return InMemory(chunk, view, kept, below)


@dataclass(frozen=True, slots=True)
class OnDisk:
    """Rows in files; they outlive the run, so that it can be resumed."""

    chunk: Chunk
    folder: Path
    schema: StructType

    def read(self, spark: SparkSession) -> DataFrame:
        return spark.read.schema(self.schema).parquet(str(self.folder))

    def compute(self) -> None:
        """Nothing: it is computed."""

    def drop(self) -> None:
        """Nothing: a restart reads it."""


@dataclass(frozen=True, slots=True)
class PartLater:
    """The rows of a chunk that are computed when they are wanted, and kept."""

    part: Part
    compute: Callable[[], None]

    def plan(self) -> None:
        """Nothing: it was planned when it was made."""

    def rows(self) -> Part:
        self.compute()
        return self.part


def place_of(chunk: Chunk, folder: Path) -> Path:
    """Where the rows of a chunk are, if they are there."""
    return folder.absolute() / f"{chunk_name(chunk)}.parquet"


def on_disk(schema: StructType, chunk: Chunk, folder: Path) -> OnDisk:
    """The rows of a chunk of a stage that has these columns, in its folder."""
    return OnDisk(chunk, place_of(chunk, folder), kept_schema(schema))


def held_on_disk(chunk: Chunk, frame: DataFrame, folder: Path) -> None:
    """Compute a chunk into files; a crash before the renaming leaves nothing that is read."""
    target = place_of(chunk, folder)
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    with told_when_run():
        frame.write.parquet(str(fresh))
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def kept_schema(schema: StructType) -> StructType:
    """The columns of rows as they are handed over: numbered, and with their progress."""
    kept = StructType()
    for n, one in enumerate(schema):
        kept = kept.add(f"c{n}", one.dataType)
    return kept.add(FROM, IntegerType()).add(UNTIL, IntegerType())


def chunks_on_disk(folder: Path) -> list[Chunk]:
    """The chunks that are complete, up to the first that is missing."""
    found = (chunk_named(path.stem) for path in folder.glob("*.parquet"))
    return in_a_row(chunk for chunk in found if chunk is not None)

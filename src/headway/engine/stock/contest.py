"""The same backlog through headway and through stock Spark, one after the other in one session."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headway.clock import Clock, SystemClock
from headway.engine.spark.run import run
from headway.engine.spark.session import open_session
from headway.engine.spark.settings import Settings
from headway.engine.stock.backlog import Backlog, read_backlog
from headway.engine.stock.collected import Collected
from headway.engine.stock.drive import drive
from headway.engine.stock.files import read_files, write_files
from headway.flow.sources import replay
from headway.flow.stream import Stream
from headway.keep.pacing import Pace

Build = Callable[[DataFrame], DataFrame]


class Contest:
    """A session and a folder in which contestants take their turns."""

    def __init__(self, spark: SparkSession, folder: Path, clock: Clock | None = None) -> None:
        self._spark, self._folder = spark, folder
        self._clock = clock or SystemClock()
        self._turns = 0

    def headway(self, flow: Callable[[Stream], Stream], backlog: Backlog) -> Collected:
        """Run a flow through the gate, metered and with its own sink, to the end of the backlog."""
        collected = Collected(self._clock)
        records = replay(backlog.maker, rate=None, count=backlog.count)
        pace = Pace(interval_s=0, max_rows=backlog.batch_rows, readers=backlog.readers)
        with run(
            flow(records).to(collected, name="collected"),
            folder=self._place(),
            session=self._spark,
            settings=Settings(pace=pace),
        ) as running:
            running.wait()
        return collected

    def stock(self, build: Build, backlog: Backlog, mode: str) -> Collected:
        """Run a query by hand over the plain source."""
        frame = build(read_backlog(self._spark, backlog))
        return drive(frame, mode, backlog.batches, self._place(), self._clock)

    def lay_out(self, backlog: Backlog) -> Path:
        """Write the backlog as files, for the contestant that reads files."""
        folder = self._place()
        write_files(backlog, folder)
        return folder

    def stock_files(self, build: Build, backlog: Backlog, files: Path, mode: str) -> Collected:
        """Run a query by hand over Spark's own file source."""
        frame = build(read_files(self._spark, files, backlog.readers))
        return drive(frame, mode, backlog.batches, self._place(), self._clock)

    def _place(self) -> Path:
        self._turns += 1
        return self._folder / f"turn-{self._turns:04d}"


@contextmanager
def open_contest(cores: int) -> Iterator[Contest]:
    """A contest in a session and a folder of its own, both gone afterwards."""
    spark = open_session(f"local[{cores}]")
    try:
        with tempfile.TemporaryDirectory(prefix="headway-contest-") as folder:
            yield Contest(spark, Path(folder))
    finally:
        spark.stop()

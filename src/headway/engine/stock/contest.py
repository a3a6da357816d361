"""The same backlog through headway and through stock Spark, at once in one session, by turns."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
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
from headway.engine.stock.relay import Relay
from headway.flow.sources import replay
from headway.flow.stream import Stream
from headway.keep.pacing import Pace

LOOK_S = 0.5
Build = Callable[[DataFrame], DataFrame]
Entry = Callable[[Collected, Path], None]  # works a backlog off, answers into the first


class Contest:
    """A session and a folder in which contestants meet."""

    def __init__(self, spark: SparkSession, folder: Path, clock: Clock | None = None) -> None:
        self._spark, self._folder = spark, folder
        self._clock = clock or SystemClock()
        self._meetings = 0

    def headway(self, flow: Callable[[Stream], Stream], backlog: Backlog) -> Entry:
        """A flow through the gate, metered and with its own sink."""

        def enter(collected: Collected, folder: Path) -> None:
            records = replay(backlog.maker, rate=None, count=backlog.count)
            pace = Pace(interval_s=0, max_rows=backlog.batch_rows, readers=backlog.readers)
            with run(
                flow(records).to(collected, name=folder.name),
                folder=folder,
                session=self._spark,
                settings=Settings(pace=pace),
            ) as running:
                running.wait()

        return enter

    def stock(self, build: Build, backlog: Backlog, mode: str) -> Entry:
        """A query by hand over the plain source."""
        return lambda collected, folder: drive(
            build(read_backlog(self._spark, backlog)), mode, folder, collected
        )

    def stock_files(self, build: Build, backlog: Backlog, mode: str) -> Entry:
        """A query by hand over Spark's own file source; the files are written now."""
        files = self._folder / f"files-{len(list(self._folder.glob('files-*')))}"
        write_files(backlog, files)
        return lambda collected, folder: drive(
            build(read_files(self._spark, files, backlog.readers)), mode, folder, collected
        )

    def meet(
        self, entries: Mapping[str, Entry], batches: int, seen: Callable[[str], None]
    ) -> dict[str, Collected]:
        """Let all work by turns, a batch each; `seen` is told whose batch is done."""
        self._meetings += 1
        relay = Relay(list(entries))
        made: dict[str, Collected] = {}
        with ThreadPoolExecutor(len(entries)) as pool:
            running = []
            for name, enter in entries.items():
                between = partial(hand_on, relay, name, seen)
                made[name] = Collected(batches, self._clock, between)
                folder = self._folder / f"meeting-{self._meetings}" / name
                running.append(pool.submit(take_part, relay, name, enter, (made[name], folder)))
                # One start after the other: a query's start is the most that a machine has to do.
                while not made[name].begun.wait(LOOK_S) and not running[-1].done():
                    pass
            for each in running:
                each.result()
        return made


def hand_on(relay: Relay, name: str, seen: Callable[[str], None]) -> None:
    """Report a batch and pass the baton."""
    seen(name)
    relay.hand_on(name)


def take_part(relay: Relay, name: str, enter: Entry, given: tuple[Collected, Path]) -> None:
    """Run one contestant; however it ends, the others are not kept waiting."""
    try:
        enter(*given)
    finally:
        relay.leave(name)


@contextmanager
def open_contest(cores: int) -> Iterator[Contest]:
    """A contest in a session and a folder of its own, both gone afterwards."""
    spark = open_session(f"local[{cores}]")
    try:
        with tempfile.TemporaryDirectory(prefix="headway-contest-") as folder:
            yield Contest(spark, Path(folder))
    finally:
        spark.stop()

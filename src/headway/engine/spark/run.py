"""Run a flow on Spark and hold it by a handle."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headway.clock import Clock, SystemClock
from headway.engine.spark.beside import Beside
from headway.engine.spark.folder import RunFolder, open_folder
from headway.engine.spark.frames.read import sessions_of
from headway.engine.spark.learning.figures import keep_figures, known_of
from headway.engine.spark.learning.keeping import Keeper, first_settings
from headway.engine.spark.queries import Running
from headway.engine.spark.realtime.needs import modes_here, wanted_session
from headway.engine.spark.session import check_session, lanes_of, open_session, prepare
from headway.engine.spark.settings import Settings
from headway.engine.spark.stores import with_fixed_store, with_store
from headway.engine.topics.opening import check_sink, check_source
from headway.errors import HeadwayError, RunError
from headway.flow.goals import Goal, parse_goal
from headway.flow.graph import Flow
from headway.flow.topics import StreamedFrame
from headway.keep.pacing import Pace
from headway.measure.account import Account
from headway.measure.batches import BatchLine
from headway.measure.costs.stores import Store
from headway.measure.summary import account_of
from headway.plan.modes import Mode, RealTime, check_mode, check_suits
from headway.plan.stores import check_mode_reads
from headway.units import Duration, parse_duration

POLL_S = 0.05
PATIENCE_S = 60.0


def run(
    flow: Flow,
    *,
    goal: str | Goal | None = None,
    folder: str | Path | None = None,
    session: SparkSession | None = None,
    settings: Settings | None = None,
    mode: Mode | None = None,
) -> RunHandle:
    """Start a flow on Spark; the handle tells how it goes and stops it.

    `folder` keeps everything that must survive a crash: the same flow started again with the same
    folder goes on where it was, and answers each record once. Without it the run gets a new folder.
    `mode` is 'micro-batch' or 'real-time'; either goes on where the other was. With a `goal` the
    run is kept to it: it is planned, and planned anew while it runs (see `Settings.keeping`).
    """
    if not isinstance(flow, Flow):
        raise RunError(f"run needs a flow that ends in .to(...); got {type(flow).__name__}")
    settings = settings or Settings()
    if mode is not None:
        settings = replace(settings, mode=mode)
    check_suits(flow, settings.mode)
    place = Path(folder) if folder is not None else new_folder(flow)
    settings = with_fixed_store(settings, flow, place)
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    for source in flow.sources:
        check_source(source)
    for sink in flow.sinks:
        check_sink(sink)
    spark = spark_for(flow, session, settings)
    known = known_of(flow, place, lanes_of(spark))
    if mode is None:
        modes = partial(modes_here, spark, flow, settings)
        settings = first_settings(settings, wanted, flow, known, modes)
    settings = with_store(settings, flow, spark)
    handle = RunHandle(flow, wanted, spark, open_folder(place, flow, settings.buckets), settings)
    if wanted is not None and settings.keeping != "off" and gated(flow):
        handle.keeper = Keeper(handle, wanted, known, handle.folder)
        if not handle.active:  # it has ended meanwhile, and could not close what was not there
            handle.keeper.close()
    return handle


def gated(flow: Flow) -> bool:
    """Whether a flow is read through gates: what has none cannot be steered."""
    return not any(isinstance(source.topic, StreamedFrame) for source in flow.sources)


def spark_for(flow: Flow, session: SparkSession | None, settings: Settings) -> SparkSession:
    """The session that a flow runs in: that of its DataFrames, the one given, or one of our own."""
    owners = sessions_of(flow)
    for other in owners[1:] + ([session] if session is not None and owners else []):
        if not other._jsparkSession.equals(owners[0]._jsparkSession):
            raise RunError(
                "the streaming DataFrames of this flow, and the session given to run(), belong to "
                "different Spark sessions; make all frames with the session that runs the flow"
            )
    given = session or next(iter(owners), None)
    return check_session(given) if given else open_session(*wanted_session(flow, settings))


def new_folder(flow: Flow) -> Path:
    """A folder for a run that was given none."""
    now = datetime.fromtimestamp(SystemClock().now_us() / 1e6, UTC).strftime("%Y%m%d-%H%M%S-%f")
    return Path(".headway") / f"{flow.sinks[0].name}-{now}"


class RunHandle:
    """A flow that runs."""

    def __init__(
        self,
        flow: Flow,
        goal: Goal | None,
        spark: SparkSession,
        folder: RunFolder,
        settings: Settings,
    ) -> None:
        self.flow, self.goal, self.settings = flow, goal, settings
        self._spark, self._folder = spark, folder
        self._clock: Clock = SystemClock()
        self._done = threading.Event()
        self._stopping = threading.Lock()
        self._error: HeadwayError | None = None
        self._running = Running(spark, flow, folder, settings)
        self._queries = self._running.queries
        self.lanes = lanes_of(spark)
        self._beside: Beside | None = None
        self.keeper: Keeper | None = None  # while the run has a goal
        try:
            self._beside = Beside(settings, folder, self.lines)
            prepare(spark, flow)
            self._running.start()
        except BaseException:
            self._abandon()
            raise
        threading.Thread(target=self._watch, name="headway-run", daemon=True).start()

    def __enter__(self) -> RunHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def mode(self) -> Mode:
        """How the flow runs now."""
        return self._running.mode

    def switch(
        self, mode: Mode, patience_s: float = PATIENCE_S, real_time: RealTime | None = None
    ) -> float:
        """Change the mode of the running flow; returns for how many seconds nothing was answered.

        A flow in micro-batch ends its batch first; one in real-time mode goes on to its next
        checkpoint, for at most `patience_s`, so that hardly anything is answered twice. Where the
        other mode does not start, the flow goes on as it was, and the error says so. `real_time`
        brings all knobs of that mode anew; how many tasks reduce is fixed by the checkpoint, and so
        is where states rest: real-time mode cannot read them in memory.
        """
        check_mode(mode)
        check_suits(self.flow, mode)
        check_mode_reads(mode, self.store)
        with self._stopping:
            wanted = replace(self.settings, real_time=real_time or self.settings.real_time)
            same = mode == "micro-batch" or wanted == self.settings
            if self._done.is_set() or (mode == self._running.mode and same):
                self.settings = wanted  # for when real-time mode comes
                return 0.0
            try:
                gap_s = self._running.change(replace(wanted, mode=mode), patience_s)
                self.settings = wanted
                return gap_s
            except BaseException as error:
                if not self._queries:  # it could not go back, either
                    said = error if isinstance(error, HeadwayError) else None
                    self._error = said or RunError(f"the run could not be changed: {error}")
                    self._end()
                raise

    @property
    def store(self) -> Store | None:
        """Where its states rest for the life of its checkpoint; None where it has none."""
        return self.settings.store

    @property
    def metrics_port(self) -> int | None:
        """Where Prometheus finds the run's figures, on this host."""
        exporter = self._beside.exporter if self._beside else None
        return exporter.port if exporter else None

    @property
    def folder(self) -> Path:
        """Where the run keeps its checkpoint, log, quarantine and report."""
        return self._folder.path

    @property
    def active(self) -> bool:
        """Whether the flow still runs."""
        return not self._done.is_set()

    @property
    def error(self) -> HeadwayError | None:
        """Why the run failed; None if it has not."""
        return self._error

    @property
    def pace(self) -> Pace:
        """The pace that the next batch will have."""
        return self._queries[0].pace

    @property
    def account(self) -> Account:
        """Where every record that arrived is, as of the last batch; the parts add up."""
        meters = [query.meter for query in self._queries]
        return account_of(meter.lines[-1] for meter in meters if meter.lines)

    def lines(self) -> list[BatchLine]:
        """One line per batch so far."""
        return [line for query in self._queries for line in list(query.meter.lines)]

    def set_pace(
        self,
        *,
        interval: Duration | None = None,
        max_rows: int | None = None,
        readers: int | None = None,
    ) -> Pace:
        """Change interval, batch size or number of readers from the next batch on; no restart."""
        every_s = None if interval is None else parse_duration(interval, "interval")
        wanted = {"interval_s": every_s, "max_rows": max_rows, "readers": readers}
        changes: dict[str, Any] = {name: v for name, v in wanted.items() if v is not None}
        first, *_ = [query.set_pace(**changes) for query in self._queries]
        return first

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end of the run; raises its error. False when the time ran out first."""
        ended = self._done.wait(timeout_s)
        if self._error is not None:
            raise self._error
        return ended

    def stop(self) -> None:
        """Let the running batch finish, then stop. Calling it again does nothing."""
        with self._stopping:
            self._end()

    def _end(self) -> None:
        if self._done.is_set():
            return
        try:
            for query in self._queries:
                query.stop(PATIENCE_S)
            failed = [error for query in self._queries if (error := query.error()) is not None]
            self._error = self._error or next(iter(failed), None)
            self._running.hang_up()
            self._is_over()  # for what the last events brought to light
            if self.lines():
                keep_figures(self._folder, self.flow, self.lanes)
        except Exception as error:
            # Spark itself is gone, or its bus is stuck: the run is over all the same.
            self._error = self._error or RunError(f"Spark went away while the run ended: {error}")
        finally:
            self._let_go()

    def _let_go(self) -> None:
        try:
            for helper in (self._beside, self.keeper):
                if helper is not None:
                    helper.close()
        finally:
            self._folder.release()
            self._done.set()

    def _watch(self) -> None:
        while not self._done.wait(POLL_S):
            with self._stopping:  # a change of mode is no end
                try:
                    over = self._is_over()
                except Exception as error:
                    self._error = RunError(f"Spark went away while the run was watched: {error}")
                    over = True
                if over:
                    self._end()

    def _is_over(self) -> bool:
        for query in self._queries:
            if query.meter.failure is not None:
                self._error = RunError(
                    f"a batch could not be entered in the log: {query.meter.failure!r}; nothing is "
                    "lost, start the run again in the same folder"
                )
                return True
        if any(not query.active and not query.revive() for query in self._queries):
            return True
        read = bool(self._queries) and all(query.all_read for query in self._queries)
        return self.settings.until == "end" and read

    def _abandon(self) -> None:
        self._running.abandon()
        self._let_go()

"""The queries of a flow in the mode that is wanted, and what must be done before they may start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from pyspark.sql import SparkSession

from headway.clock import Clock, SystemClock
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.frames.query import FrameQuery
from headway.engine.spark.frames.read import has_frames
from headway.engine.spark.gate.query import GatedQuery
from headway.engine.spark.metering.listening import ProgressListener
from headway.engine.spark.metering.logbook import Logbook
from headway.engine.spark.realtime.handover import last_by_gate, unfinished
from headway.engine.spark.realtime.needs import set_shuffle
from headway.engine.spark.realtime.query import RealTimeQuery, open_finals, settle_left
from headway.engine.spark.settings import Settings
from headway.errors import HeadwayError, RunError, SessionError
from headway.flow.graph import Flow
from headway.keep.pacing import Pace
from headway.plan.modes import Mode


class RunningQuery(Protocol):
    """A query that leads to one sink, in either mode."""

    @property
    def meter(self) -> Logbook: ...
    @property
    def run_id(self) -> str: ...
    @property
    def rest_s(self) -> float: ...
    @property
    def active(self) -> bool: ...
    @property
    def pace(self) -> Pace: ...
    @property
    def all_read(self) -> bool: ...
    def start(self) -> None: ...
    def set_pace(self, **changes: Any) -> Pace: ...
    def wind_down(self, patience_s: float) -> None: ...
    def wait_working(self, patience_s: float) -> None: ...
    def stop(self, patience_s: float) -> None: ...
    def revive(self) -> bool: ...
    def error(self) -> HeadwayError | None: ...
    def close(self) -> None: ...


class Running:
    """All queries of a run: started together, and together brought into another mode."""

    def __init__(
        self, spark: SparkSession, flow: Flow, folder: RunFolder, settings: Settings
    ) -> None:
        self._spark, self._flow, self._folder, self._settings = spark, flow, folder, settings
        self.queries: list[RunningQuery] = []
        self._clock = SystemClock()
        self._listener = ProgressListener(self.queries, self._clock)

    def start(self) -> None:
        """Start for the first time."""
        self._spark.streams.addListener(self._listener)
        self._start(self._settings)

    def _start(self, settings: Settings) -> None:
        self.queries += open_queries(self._spark, self._flow, self._folder, settings)
        for query in self.queries:
            query.start()
        self._settings = settings

    @property
    def mode(self) -> Mode:
        """How the flow runs now."""
        return self._settings.mode

    def change(self, settings: Settings, patience_s: float) -> float:
        """Go on as these settings say; returns for how many seconds nothing was answered.

        Where their mode does not start, the one before goes on, and the error says so; where that
        does not start either, no query is left.
        """
        before = replace(self._settings, pace=self.queries[0].pace)
        going_on = f"The flow goes on in {before.mode}"
        if settings.mode == "real-time":
            try:  # what can be known to fail need not interrupt anything
                set_shuffle(self._spark, settings.real_time)
            except SessionError as error:
                raise RunError(f"{error}\n{going_on}") from error
        for query in self.queries:
            query.wind_down(patience_s)
        silent_s = self._clock.steady_s()
        self._end(patience_s)
        try:
            self._start(settings)
            self._wait_working(patience_s)
        except BaseException as error:
            self._go_back(before)
            raise RunError(f"the run could not be changed: {error}\n{going_on}") from error
        return self._clock.steady_s() - silent_s

    def _wait_working(self, patience_s: float) -> None:
        """Wait until all work; one that has failed meanwhile did not start at all."""
        for query in self.queries:
            query.wait_working(patience_s)
            if not query.active:
                raise query.error() or RunError("the query ended as soon as it had started")

    def _end(self, patience_s: float) -> None:
        for query in self.queries:
            query.stop(patience_s)
        self._listener.drain(self._spark)
        for query in self.queries:
            query.close()
        self.queries.clear()

    def _go_back(self, settings: Settings) -> None:
        try:
            self._end(0.0)
            self._start(settings)
        except BaseException:
            self.abandon()
            self.queries.clear()
            raise

    def hang_up(self) -> None:
        """Hear the last events of queries that were stopped, and let go of them."""
        self._listener.drain(self._spark)
        self._spark.streams.removeListener(self._listener)
        for query in self.queries:
            query.close()

    def abandon(self) -> None:
        """Stop at once what has been started."""
        for query in self.queries:
            query.stop(0.0)
            query.close()
        self._spark.streams.removeListener(self._listener)


def open_queries(
    spark: SparkSession, flow: Flow, folder: RunFolder, settings: Settings
) -> list[RunningQuery]:
    """A query for each sink, ready to start, the checkpoint handed over to the wanted mode."""
    clock, made = SystemClock(), list[RunningQuery]()
    try:
        for sink in flow.sinks:
            part = flow.part_for(sink)
            if not has_frames(part):
                hand_over(spark, part, folder, settings, clock)
            made.append(kind_of(part, settings)(spark, part, folder, settings, clock))
    except BaseException:
        for query in made:
            query.stop(0.0)
        raise
    return made


def kind_of(
    part: Flow, settings: Settings
) -> type[GatedQuery] | type[RealTimeQuery] | type[FrameQuery]:
    """Which kind of query runs a part."""
    if has_frames(part):
        return FrameQuery
    return RealTimeQuery if settings.mode == "real-time" else GatedQuery


def hand_over(
    spark: SparkSession, part: Flow, folder: RunFolder, settings: Settings, clock: Clock
) -> None:
    """Bring to an end what only the other mode can, before this one takes the checkpoint."""
    sink, checkpoint = part.sinks[0], folder.checkpoint(part.sinks[0])
    windowed = any(step.window is not None for step in part.stateful())
    if settings.mode == "micro-batch":
        if windowed:
            settle_left(sink, folder, clock)
        return
    if unfinished(checkpoint):
        GatedQuery(spark, part, folder, settings, clock).finish()
    if windowed and last_by_gate(checkpoint):
        open_finals(sink, folder, clock).close()  # from here on it follows the answers
        GatedQuery(spark, part, folder, settings, clock).tell_open_windows()

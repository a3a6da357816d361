"""The queries of a flow in the mode that is wanted, and what must be done before they may start."""

from __future__ import annotations

from typing import Any, Protocol

from pyspark.sql import SparkSession

from headway.clock import Clock, SystemClock
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.frames.query import FrameQuery
from headway.engine.spark.frames.read import has_frames
from headway.engine.spark.gate.query import GatedQuery
from headway.engine.spark.metering.logbook import Logbook
from headway.engine.spark.realtime.handover import last_by_gate, unfinished
from headway.engine.spark.realtime.query import RealTimeQuery, open_finals, settle_left
from headway.engine.spark.settings import Settings
from headway.errors import HeadwayError
from headway.flow.graph import Flow
from headway.keep.pacing import Pace


class RunningQuery(Protocol):
    """A query that leads to one sink, in either mode."""

    @property
    def meter(self) -> Logbook: ...
    @property
    def run_id(self) -> str: ...
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

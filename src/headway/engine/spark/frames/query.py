"""A flow that begins with a user's own streaming DataFrame: measured, published once, not gated."""

from __future__ import annotations

from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from headway.clock import Clock
from headway.engine.spark.compile import compile_part, refused
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.frames.meter import FrameMeter
from headway.engine.spark.frames.read import check_frames, read_frame
from headway.engine.spark.metering.stages import Glances, stages_of
from headway.engine.spark.pair_step import PairSettings
from headway.engine.spark.query import BatchQuery
from headway.engine.spark.settings import Settings
from headway.errors import RunError
from headway.flow.graph import Flow
from headway.flow.steps import Source
from headway.keep.pacing import Pace

POLL_S = 0.05
# Windows close in a batch without records, which at the gate is the gate's to start.
CLOSING = "spark.sql.streaming.noDataMicroBatches.enabled"


class FrameQuery(BatchQuery):
    """The query that leads to one sink, over sources that Spark itself reads."""

    def __init__(
        self, spark: SparkSession, part: Flow, folder: RunFolder, settings: Settings, clock: Clock
    ) -> None:
        check_frames(part)
        super().__init__(part, folder, settings, clock)
        self._spark, self.pace, self._phases = spark, settings.pace, settings.phases
        self.meter = FrameMeter(part, folder, self._outbox, settings.pace)
        answered = self._publisher.any_published() or bool(self.meter.lines)
        folder.check_checkpoint(self.sink, answered)
        pairs = PairSettings(settings.buckets, folder.set_aside(self.sink))
        self._compiled = compile_part(part, self._read, pairs)

    def _read(self, source: Source) -> DataFrame:
        return read_frame(source, self._part, self.meter.epoch_us)

    def start(self) -> None:
        """Start the query, at the interval of the pace."""
        millis = round(self.pace.interval_s * 1e3)
        writer = (
            self._compiled.answers()
            .writeStream.outputMode(self._compiled.output_mode)
            .option("checkpointLocation", str(self._folder.checkpoint(self.sink).resolve()))
            .queryName(f"{self.sink.name}-{self._folder.run}")
            .trigger(processingTime=f"{millis} milliseconds")
            .foreachBatch(self._publish)
        )
        self.meter.kind = self._kind_of_states(self._spark)
        try:
            self._start(self._spark, writer, {CLOSING: "true"})
        except AnalysisException as error:
            raise refused(error) from error
        context, group = self._spark.sparkContext, self.run_id
        if self._phases:
            self.meter.glances = Glances(lambda: stages_of(context, group), self._clock)

    @property
    def all_read(self) -> bool:
        """Never: nobody knows of a stream of Spark's whether more will come."""
        return False

    def set_pace(self, **changes: Any) -> Pace:
        """Refuse: there is no gate to pace batches with."""
        raise RunError(
            "this flow begins with a streaming DataFrame, so Spark paces it and headway cannot; "
            "read with headway.topic(...) or spool(...) for a gate, or start it again"
        )

    def wind_down(self, patience_s: float) -> None:
        """Let the batch that runs finish."""
        begun, until = len(self.meter.lines), self._clock.steady_s() + patience_s
        while self.active and self._clock.steady_s() < until:
            assert self._query is not None
            if not self._query.status["isTriggerActive"] or len(self.meter.lines) > begun:
                return
            self._clock.sleep(POLL_S)

    def stop(self, patience_s: float) -> None:
        """Let the batch that runs finish, then stop."""
        self.wind_down(patience_s)
        if self._query is not None and self._query.isActive:
            self._query.stop()
        self._publisher.close()

    def wait_working(self, patience_s: float) -> None:
        """Nothing to wait for: it has one mode."""

    def close(self) -> None:
        """Nothing is held open."""

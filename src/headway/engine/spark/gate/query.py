"""The query behind the gate that leads to one sink: paced, stopped between batches, handed over."""

from __future__ import annotations

from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from headway.clock import Clock
from headway.engine.spark.compile import (
    Compiled,
    compile_part,
    enter,
    refused,
    shape_of,
    stateful_step,
)
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.admission import Admission
from headway.engine.spark.gate.control import Control
from headway.engine.spark.gate.source import FORMAT, GateSource, GateSpec
from headway.engine.spark.metering.gaps import GapSample
from headway.engine.spark.metering.meter import GateMeter
from headway.engine.spark.metering.stages import Glances, stages_of
from headway.engine.spark.pair_step import PairSettings
from headway.engine.spark.query import BatchQuery
from headway.engine.spark.settings import Settings
from headway.engine.topics.opening import open_topic
from headway.flow.graph import Flow
from headway.flow.steps import Source
from headway.keep.pacing import Pace

POLL_S = 0.02
NOT_BACK = "Python worker failed to connect back"
REVIVED_MOST = 3


class GatedQuery(BatchQuery):
    """The query that leads to one sink of a flow."""

    def __init__(
        self, spark: SparkSession, part: Flow, folder: RunFolder, settings: Settings, clock: Clock
    ) -> None:
        super().__init__(part, folder, settings, clock)
        self._spark, self._phases, self._revived = spark, settings.phases, 0
        state = stateful_step(part)
        self.control = Control(settings.pace, state.window if state else None, clock)
        self.control.expected = tuple(source.name for source in part.sources)
        self._quarantine = folder.set_aside(self.sink)
        self.meter = GateMeter(self.sink, folder, self.control, self._outbox)
        try:
            self._compiled = self._prepare(PairSettings(settings.buckets, self._quarantine))
        except BaseException:
            self.control.close()
            raise

    def _prepare(self, pairs: PairSettings) -> Compiled:
        answered = self._publisher.any_published() or bool(self.meter.lines)
        self._folder.check_checkpoint(self.sink, answered)
        topics = {
            source.name: open_topic(source, self._folder.topics, 0) for source in self._part.sources
        }
        if self._phases:
            self.meter.gaps = GapSample(topics, self._clock)
        return compile_part(self._part, self._read, pairs)

    def _read(self, source: Source) -> DataFrame:
        return enter(self._gate(source), source, self._part)

    def _gate(self, source: Source) -> DataFrame:
        admission = Admission(source, shape_of(self._part, source), self._quarantine)
        begin = self._folder.begins(self.sink).get(source.name, {})
        spec = GateSpec(admission, self._folder.topics.resolve(), self.control.address, begin)
        # Anew for each stream: queries of one registration share a map of Spark's that the start of
        # one changes while the tasks of another are written, which then cannot be read.
        self._spark.dataSource.register(GateSource)
        return self._spark.readStream.format(FORMAT).option("spec", spec.to_option()).load()

    def start(self) -> None:
        """Start the query and open its gates."""
        writer = (
            self._compiled.answers()
            .writeStream.outputMode("complete" if self._telling else self._compiled.output_mode)
            .option("checkpointLocation", str(self._folder.checkpoint(self.sink).resolve()))
            .queryName(f"{self.sink.name}-{self._folder.run}")
            .foreachBatch(self._publish)
        )
        self.meter.kind = self._kind_of_states(self._spark)
        try:
            query = self._start(self._spark, writer, {})
        except AnalysisException as error:
            # Some operators are judged only when the query starts.
            raise refused(error) from error
        context, group = self._spark.sparkContext, self.run_id
        if self._phases:
            self.meter.glances = Glances(lambda: stages_of(context, group), self._clock)
        execution = query._jsq.streamingQuery()
        self.control.attach(lambda: int(execution.watermarkTracker().currentWatermark()))

    def revive(self) -> bool:
        """Start again where Spark lost patience with a Python process, which it has for 10 s."""
        failed = self._query.exception() if self._query is not None else None
        if failed is None or NOT_BACK not in str(failed) or self._revived >= REVIVED_MOST:
            return False
        self._revived += 1
        self.start()
        return True

    @property
    def pace(self) -> Pace:
        """The pace that the next batch will have."""
        return self.control.pace

    def set_pace(self, **changes: Any) -> Pace:
        """Change the pace from the next batch on."""
        return self.control.set_pace(**changes)

    @property
    def all_read(self) -> bool:
        """Whether every topic has been read to its end."""
        return self.control.all_read.is_set()

    def stop(self, patience_s: float) -> None:
        """Let the batch that runs finish, then stop."""
        self.wind_down(patience_s)
        if self._query is not None and self._query.isActive:
            self._query.stop()
        self.control.close()
        self._publisher.close()

    def wind_down(self, patience_s: float) -> None:
        """Admit nothing more, and let the batch that runs finish."""
        self.control.stop()
        if self.active:
            self._wait_idle(patience_s)

    def wait_working(self, patience_s: float) -> None:
        """Wait until the first batch is out, or nothing waits for one."""
        until, begun = self._clock.steady_s() + patience_s, len(self.meter.lines)
        while self.active and self._clock.steady_s() < until and len(self.meter.lines) == begun:
            views = [self.control.view(name) for name in self.control.expected]
            if all(view is not None and view.quiet for view in views):
                return
            self._clock.sleep(POLL_S)

    def tell_open_windows(self) -> None:
        """Answer every window that is open, as it stands, in a batch without records; then stop.

        Real-time mode answers a window when a record comes. One that was begun before and gets no
        more records would be closed without ever having been told.
        """
        self._telling = True
        self.control.run_once_more()
        self._run_to_idle()

    def finish(self) -> None:
        """Run the batch that a crash has interrupted, nothing else, and stop."""
        self.control.stop()
        self._run_to_idle()

    def _run_to_idle(self) -> None:
        self.start()
        while self.active and not self.control.idle.wait(POLL_S):
            pass
        self.stop(0.0)
        if (failed := self.error()) is not None:
            raise failed

    def close(self) -> None:
        """Nothing is held open."""

    def _wait_idle(self, patience_s: float) -> None:
        assert self._query is not None
        until = self._clock.steady_s() + patience_s
        while self._query.isActive and self._clock.steady_s() < until:
            if self.control.idle.wait(POLL_S):
                return

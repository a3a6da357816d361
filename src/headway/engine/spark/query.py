"""One streaming query of Spark behind its gates: started, stopped, its errors explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headway.clock import Clock
from headway.engine.faults import reached
from headway.engine.pairs.failures import find_pair_error
from headway.engine.pairs.unpack import unpack_answers
from headway.engine.spark.compile import (
    STAMPS,
    Compiled,
    compile_part,
    enter,
    refused,
    shape_of,
    stateful_step,
)
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.admission import Admission
from headway.engine.spark.gate.columns import LAST, VERSION, WINDOW_END
from headway.engine.spark.gate.control import Control
from headway.engine.spark.gate.source import FORMAT, GateSource, GateSpec
from headway.engine.spark.metering.gaps import GapSample
from headway.engine.spark.metering.meter import GateMeter, Published
from headway.engine.spark.metering.stages import Glances, stages_of
from headway.engine.spark.pair_step import PairSettings
from headway.engine.spark.settings import Settings
from headway.engine.spark.sinks import open_sink
from headway.engine.topics.opening import open_topic
from headway.errors import CheckpointError, HeadwayError, RunError, TopicError
from headway.flow.graph import Flow
from headway.flow.steps import PairStep, Sink, Source
from headway.keep.pacing import Pace
from headway.measure.latency import Latency

POLL_S = 0.02


class StartedQuery:
    """A query of Spark's that leads to one sink, in whatever mode."""

    def __init__(self, sink: Sink, folder: RunFolder) -> None:
        self.sink, self._folder = sink, folder
        self._query: StreamingQuery | None = None

    @property
    def run_id(self) -> str:
        """By what progress events name the query."""
        assert self._query is not None
        return str(self._query.runId)

    @property
    def active(self) -> bool:
        """Whether the query still runs."""
        return self._query is not None and self._query.isActive

    def error(self) -> HeadwayError | None:
        """Why the query failed, in words that say what to do; None while it has not."""
        if self._query is None:
            return None
        found = self._query.exception()
        return explain(found, self._folder.checkpoint(self.sink)) if found else None


class GatedQuery(StartedQuery):
    """The query that leads to one sink of a flow."""

    def __init__(
        self, spark: SparkSession, part: Flow, folder: RunFolder, settings: Settings, clock: Clock
    ) -> None:
        super().__init__(part.sinks[0], folder)
        self._spark, self._part, self._clock = spark, part, clock
        state = stateful_step(part)
        self._by_arrival = all(source.time is None for source in part.sources)
        self.control = Control(settings.pace, state.window if state else None, clock)
        self.control.expected = tuple(source.name for source in part.sources)
        self._quarantine = folder.set_aside(self.sink)
        self.meter = GateMeter(self.sink, folder, self.control)
        self._pair = state.pair if isinstance(state, PairStep) else None
        keys = ("key",) if self._pair else state.key if state else ()
        place, final = folder.sink(self.sink), state is not None and state.window is not None
        self._publisher = open_sink(self.sink.target, place, folder.run, keys, final)
        self._telling, self._phases = False, settings.phases
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
        try:
            self._query = writer.start()
        except AnalysisException as error:
            # Some operators are judged only when the query starts.
            raise refused(error) from error
        context, group = self._spark.sparkContext, self.run_id
        if self._phases:
            self.meter.glances = Glances(lambda: stages_of(context, group), self._clock)
        execution = self._query._jsq.streamingQuery()
        self.control.attach(lambda: int(execution.watermarkTracker().currentWatermark()))

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

    def _publish(self, frame: DataFrame, batch: int) -> None:
        called_us = self._clock.now_us()
        answers = frame.toArrow()
        computed_us = self._clock.now_us()
        reached("computed")
        if self._compiled.packed:
            assert self._pair is not None
            parts = [part for each in answers.to_batches() for part in unpack_answers(each)]
            answers = pa.Table.from_batches(parts, self._pair.output().arrow())
        last = answers.column(LAST).to_numpy() if LAST in answers.column_names else None
        read = {VERSION, WINDOW_END} if self._telling else {VERSION}
        unread = [name for name in STAMPS if name in answers.column_names and name not in read]
        answers = answers.drop_columns(unread)
        self._publisher.publish(batch, answers)
        reached("published")
        now_us = self._clock.now_us()
        windows = self._window_latency(answers, last, now_us)
        returned_us = self._clock.now_us()
        self.meter.published(
            batch, Published(now_us, answers.num_rows, windows, called_us, computed_us, returned_us)
        )

    def _window_latency(
        self, answers: pa.Table, last: np.typing.NDArray[np.int64] | None, now_us: int
    ) -> Latency:
        # Paper 1, definition 3.2: from the end of the window to its answer. Where times are not
        # the wall clock's, the arrival of the window's last record stands for its end.
        if last is None or not len(last) or "window_end" not in answers.column_names:
            return Latency.none()
        if self._by_arrival:
            ends = answers.column("window_end").cast(pa.int64()).to_numpy()
            return Latency.of((now_us - ends) / 1e6).not_negative()
        return Latency.of((now_us - last) / 1e6).not_negative()

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


def explain(error: StreamingQueryException, checkpoint: Path) -> HeadwayError:
    """Turn what Spark says of a failed query into an error of ours."""
    text = str(error)
    if (pair := find_pair_error(text)) is not None:
        return pair
    for kind in (TopicError, RunError, CheckpointError):
        marker = f"headway.errors.{kind.__name__}: "
        if marker in text:
            return kind(text.split(marker, 1)[1].split("\n\n")[0].split("\n\tat ")[0].strip())
    if "CHECKPOINT_FORMAT_V1_NOT_SUPPORTED" in text:
        return CheckpointError(
            f"the states in {checkpoint} are kept in a form that real-time mode cannot read: the "
            "run was begun in a session without spark.sql.streaming.stateStore."
            "checkpointFormatVersion=2. Go on in micro-batch, or begin anew in a session with it"
        )
    if "No space left on device" in text:
        return RunError(
            f"the disk under {checkpoint} is full, so the batch could not be completed; nothing is "
            "lost. Free some space and start the run again in the same folder"
        )
    return RunError(f"the query stopped: {text}")

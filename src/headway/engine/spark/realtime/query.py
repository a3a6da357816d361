"""One streaming query of Spark's in real-time mode: started, stopped, its errors explained."""

from __future__ import annotations

from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from headway.clock import Clock
from headway.engine.kafka.finals import Finals
from headway.engine.kafka.sink import KafkaSink
from headway.engine.kafka.witness import Witness
from headway.engine.spark.compile import compile_part, refused, shape_of, stateful_step, unstamped
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.admission import Admission
from headway.engine.spark.gate.offset_log import read_numbered
from headway.engine.spark.metering.stages import stages_of
from headway.engine.spark.pair_step import PairSettings
from headway.engine.spark.query import StartedQuery
from headway.engine.spark.realtime.handover import begins_in, leave_positions, watermark_before
from headway.engine.spark.realtime.meter import RealTimeMeter, TopicArrivals
from headway.engine.spark.realtime.needs import (
    PARTITIONS,
    check_slots,
    reducers,
    set_shuffle,
    slots_needed,
)
from headway.engine.spark.realtime.planning import planned_quickly
from headway.engine.spark.realtime.read import NativeSource, read_native
from headway.engine.spark.realtime.stamps import mapped
from headway.engine.spark.realtime.write import kafka_rows
from headway.engine.spark.session import set_for_now
from headway.engine.spark.settings import Settings
from headway.engine.spark.stores import told_of
from headway.errors import FlowError, RunError, SessionError
from headway.flow.graph import Flow
from headway.flow.steps import Reduce, Sink, Source
from headway.flow.topics import in_kafka
from headway.keep.pacing import Pace

POLL_S = 0.05
REST_S = 0.5  # after a checkpoint, in which Spark plans the next interval while records wait
NO_CONNECTOR = (
    "this session lacks Spark's connector to Kafka, or its Avro, which real-time mode reads with; "
    "let headway open the session, or make it with spark.jars set to the jars of "
    "headway.engine.kafka.jars.connector_jars()"
)
SHORTEST = "spark.sql.streaming.realTimeMode.minBatchDuration"
UNASKED_MS = 5_000  # the shortest interval that Spark allows unless it is told


class RealTimeQuery(StartedQuery):
    """The query that leads to one sink of a flow, running on from checkpoint to checkpoint."""

    def __init__(
        self, spark: SparkSession, part: Flow, folder: RunFolder, settings: Settings, clock: Clock
    ) -> None:
        self._spark, self._part, self._clock = spark, part, clock
        self._knobs, self._pairs = settings.real_time, PairSettings(settings.buckets, folder.path)
        super().__init__(part.sinks[0], folder)
        self.pace, self._phases = settings.pace, settings.phases
        self._admissions = [
            Admission(source, shape_of(part, source), folder.set_aside(self.sink))
            for source in part.sources
        ]
        arrivals = TopicArrivals(self._admissions, folder.topics, clock)
        checkpoint = folder.checkpoint(self.sink)
        if not folder.begins(self.sink):
            fresh = {name: topic.begin() for name, topic in arrivals.topics.items()}
            folder.keep_begins(self.sink, begins_in(checkpoint) or fresh)
        leave_positions(checkpoint)
        self.meter = RealTimeMeter(self.sink, folder, arrivals, self._admissions, self._knobs)
        state = stateful_step(part)
        self._store = settings.store if state is not None else None
        self._keys = state.key if isinstance(state, Reduce) else ()
        self._windowed = state is not None and state.window is not None
        self.slots = 0  # tasks that run at the same time
        self._ending = False

    def start(self) -> None:
        """Start the query, after a look that all its tasks can run at once."""
        tasks = reducers(self._folder.checkpoint(self.sink), self._knobs.tasks)
        self.meter.tasks, self.slots = tasks, slots_needed(self._part, tasks)
        check_slots(self._spark, self.slots)
        if self._windowed:
            self.meter.finals = open_finals(self.sink, self._folder, self._clock)
        if self._phases:
            self.meter.witness = Witness(self.sink.target.address, self._clock)
        set_shuffle(self._spark, self._knobs)
        try:
            compiled = compile_part(
                self._part, self._read, self._pairs, mapped if self._phases else unstamped
            )
            rows = kafka_rows(compiled.frame, self._keys, self._phases)
            servers, topic = in_kafka(self.sink.target.address)
            millis = round(self._knobs.checkpoint_s * 1e3)
            writer = (
                rows.writeStream.format("kafka")
                .option("kafka.bootstrap.servers", servers)
                .option("topic", topic)
                .option("checkpointLocation", str(self._folder.checkpoint(self.sink).resolve()))
                .queryName(f"{self.sink.name}-{self._folder.run}")
                .outputMode("update")
            )
            # A word that PySpark's own types do not know yet.
            timed: Any = writer.trigger
            writer = timed(realTime=f"{millis} milliseconds")
            settings = {PARTITIONS: str(self._knobs.tasks), SHORTEST: str(min(millis, UNASKED_MS))}
            settings |= told_of(self._store, self._folder.checkpoint(self.sink))
            settings |= planned_quickly(self._spark, self._knobs.makes_code)
            with set_for_now(self._spark, settings):
                self._query = writer.start()
            context, group = self._spark.sparkContext, self.run_id
            self.meter.look = lambda: stages_of(context, group, jobs_back=2)
        except (AnalysisException, FlowError) as error:
            if "data source: kafka" in str(error) or "AVRO_NOT_LOADED" in str(error):
                raise SessionError(NO_CONNECTOR) from error
            raise error if isinstance(error, FlowError) else refused(error) from error

    def _read(self, source: Source) -> DataFrame:
        begin = self._folder.begins(self.sink)[source.name]
        shape = shape_of(self._part, source)
        traced = stateful_step(self._part) is None
        native = NativeSource(source, shape, self._knobs, begin, traced, self._phases)
        return read_native(self._spark, native)

    @property
    def rest_s(self) -> float:
        """The figures of an interval can wait until the next one has begun; windows cannot."""
        return 0.0 if self._ending or self.meter.finals is not None else REST_S

    @property
    def all_read(self) -> bool:
        """Never: anyone may append to a topic."""
        return False

    def set_pace(self, **changes: Any) -> Pace:
        """Refuse: there are no batches to pace."""
        raise RunError(
            "a flow in real-time mode has no batches to pace; switch it to micro-batch first, or "
            "to other knobs: switch('real-time', real_time=RealTime(...))"
        )

    def stop(self, patience_s: float) -> None:
        """Stop now; what was answered since the last checkpoint will be answered again."""
        if self._query is not None and self._query.isActive:
            self._query.stop()

    def close(self) -> None:
        """Let go of what it holds open, once its last progress has been heard."""
        for held in (self.meter.finals, self.meter.witness):
            if held is not None:
                held.close()
        self.meter.finals = self.meter.witness = None

    def wind_down(self, patience_s: float) -> None:
        """Wait for the next checkpoint: what is stopped right after it repeats hardly anything."""
        self._ending = True
        begun, until = len(self.meter.lines), self._clock.steady_s() + patience_s
        while self.active and len(self.meter.lines) == begun and self._clock.steady_s() < until:
            self._clock.sleep(POLL_S)

    def wait_working(self, patience_s: float) -> None:
        """Wait until all tasks run: from then on every record is answered at once."""
        tracker, until = (
            self._spark.sparkContext.statusTracker(),
            self._clock.steady_s() + patience_s,
        )
        while self.active and self._clock.steady_s() < until:
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if sum(stage.numActiveTasks for stage in stages if stage) >= self.slots:
                return
            self._clock.sleep(POLL_S)


def open_finals(sink: Sink, folder: RunFolder, clock: Clock) -> Finals:
    """Who tells the final answers of a sink's windows."""
    place = folder.sink(sink)
    told = KafkaSink(sink.target.address, f"{folder.run}-{place.name}", clock=clock)
    return Finals(sink.target.address, told, place / "finals.json", clock)


def settle_left(sink: Sink, folder: RunFolder, clock: Clock) -> None:
    """Tell the final answers that real-time mode has left untold, before micro-batch goes on."""
    kept, checkpoint = folder.sink(sink) / "finals.json", folder.checkpoint(sink)
    done = read_numbered(checkpoint / "commits")
    if not kept.exists() or not done:
        return
    finals = open_finals(sink, folder, clock)
    try:
        finals.settle(max(done), watermark_before(checkpoint, max(done) + 1) * 1_000)
    finally:
        finals.close()
    kept.unlink()

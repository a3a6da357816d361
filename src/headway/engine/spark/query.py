"""One streaming query of Spark's: started, its answers published, its errors explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headway.clock import Clock
from headway.engine.faults import reached
from headway.engine.pairs.failures import find_pair_error
from headway.engine.pairs.unpack import unpack_answers
from headway.engine.spark.compile import STAMPS, Compiled, stateful_step
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.columns import LAST, VERSION, WINDOW_END
from headway.engine.spark.metering.published import Outbox, Published
from headway.engine.spark.metering.times import StateKind
from headway.engine.spark.session import set_for_now
from headway.engine.spark.settings import Settings
from headway.engine.spark.sinks import open_sink
from headway.engine.spark.stores import heap_bytes, told_of
from headway.errors import CheckpointError, HeadwayError, RunError, TopicError
from headway.flow.graph import Flow
from headway.flow.steps import PairStep, Sink
from headway.measure.latency import Latency


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
    def rest_s(self) -> float:
        """How long to leave a batch alone before it is entered in the log."""
        return 0.0

    @property
    def active(self) -> bool:
        """Whether the query still runs."""
        return self._query is not None and self._query.isActive

    def revive(self) -> bool:
        """Start a query again that failed for nothing; whether that was so."""
        return False

    def error(self) -> HeadwayError | None:
        """Why the query failed, in words that say what to do; None while it has not."""
        if self._query is None:
            return None
        found = self._query.exception()
        return explain(found, self._folder.checkpoint(self.sink)) if found else None


class BatchQuery(StartedQuery):
    """A query in micro-batch whose answers headway publishes, each batch once."""

    _compiled: Compiled

    def __init__(self, part: Flow, folder: RunFolder, settings: Settings, clock: Clock) -> None:
        super().__init__(part.sinks[0], folder)
        self._part, self._clock, self._outbox = part, clock, Outbox()
        self._store = settings.store if part.stateful() else None
        state = stateful_step(part)
        self._by_arrival = all(source.time is None for source in part.sources)
        self._pair = state.pair if isinstance(state, PairStep) else None
        keys = ("key",) if self._pair else state.key if state else ()
        place, final = folder.sink(self.sink), state is not None and state.window is not None
        self._publisher = open_sink(self.sink.target, place, folder.run, keys, final)
        self._telling = False  # whether windows that are open are answered as they stand

    def _start(
        self, spark: SparkSession, writer: DataStreamWriter, more: dict[str, str]
    ) -> StreamingQuery:
        """Start, with settings that a query takes with it: of its states, and `more`."""
        told = told_of(self._store, self._folder.checkpoint(self.sink)) | more
        with set_for_now(spark, told):
            self._query = writer.start()
        return self._query

    def _kind_of_states(self, spark: SparkSession) -> StateKind:
        """What is known of the states before any batch."""
        return StateKind(
            self._pair is not None,
            self._part.window_s,
            self._part.lives_s,
            self._store,
            heap_bytes(spark),
        )

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
        self._outbox[batch] = Published(
            now_us, answers.num_rows, windows, called_us, computed_us, returned_us
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

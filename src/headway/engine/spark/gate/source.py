"""The gate: a streaming data source of Spark whose every answer is a decision of headway's."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

from headway.clock import Clock, SystemClock
from headway.engine.faults import reached
from headway.engine.spark.gate.admission import Admission, admit_records, marker_batch
from headway.engine.spark.gate.channel import Address, Ask, Caller, Reply, Take, WhenBegun
from headway.engine.spark.gate.offsets import Decision, GateOffset
from headway.engine.topics.opening import open_topic
from headway.engine.topics.port import OpenTopic, Position, Slice, share_out
from headway.flow.steps import Source

FORMAT = "headway"
LONGEST_HOLD_S = 0.1  # so that a query that is stopped is not kept waiting


@dataclass(frozen=True, slots=True)
class GateSpec:
    """All that the gate's processes need to know, wherever they run."""

    admission: Admission
    topics: Path
    address: Address
    begin: Position = field(default_factory=dict)  # for offsets of Kafka's own source

    @property
    def source(self) -> Source:
        """The source behind the gate."""
        return self.admission.source

    def to_option(self) -> str:
        """The spec as text, for an option of Spark's reader."""
        pickled: bytes = cloudpickle.dumps(self)  # type: ignore[no-untyped-call]
        return base64.b64encode(pickled).decode()


@dataclass
class Share(InputPartition):
    """What one task reads of a batch."""

    slices: list[Slice]
    decision: Decision
    marks: bool

    def __init__(self, slices: list[Slice], decision: Decision, marks: bool) -> None:
        self.slices, self.decision, self.marks = slices, decision, marks


class GateReader(DataSourceStreamReader):
    """Answers Spark's questions: how far to read, in which shares, and the records themselves."""

    def __init__(self, spec: GateSpec, clock: Clock | None = None) -> None:
        self._spec = spec
        self._clock = clock or SystemClock()
        self._caller: Caller | None = None
        self._topic: OpenTopic | None = None
        self._t0_us = -1

    def initialOffset(self) -> dict[str, Any]:
        """Where a run that has no checkpoint begins."""
        begin = self._open(0).begin()
        return GateOffset(self._spec.source.name, begin, Decision(begin)).to_dict()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """The end of the next batch, or `start` again while nothing is to be admitted."""
        offset = self._offset(start)
        if self._caller is None:
            self._caller = Caller(self._spec.address)
        if not offset.decision.t0_us:
            offset = offset.moved(offset.position, t0_us=self._caller.call(WhenBegun()))
        if not offset.decision.t0_us:
            self._clock.sleep(LONGEST_HOLD_S)
            return start
        topic = self._open(offset.decision.t0_us)
        reach = topic.reach(self._clock.now_us())
        reply: Reply = self._caller.call(Ask(offset, reach, topic.finished(offset.position)))
        if isinstance(reply, Take):
            position = topic.cut(offset.position, reach, reply.rows)
            return reply.end.moved(position).to_dict()
        self._clock.sleep(min(reply.for_s, LONGEST_HOLD_S))
        return start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The shares of a batch, a function of the two offsets alone."""
        before, after = self._offset(start), self._offset(end)
        reached("planned")
        # Spark asks for the initial offset again before the first batch; the first answer holds.
        first = before.position if before.decision.t0_us else after.decision.begin
        shares = share_out(first, after.position, after.decision.readers)
        marks = self._spec.admission.shape.marks(before.decision, after.decision)
        if marks and not shares:
            shares = [[]]
        return [Share(s, after.decision, marks and not n) for n, s in enumerate(shares)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The admitted records of one share."""
        assert isinstance(partition, Share)
        reached("reading")
        topic = self._open(partition.decision.t0_us)
        admission = self._spec.admission
        if partition.marks:
            yield marker_batch(admission.shape, admission.source, partition.decision)
        for piece in partition.slices:
            yield from admit_records(topic, piece, partition.decision, admission)

    def _offset(self, found: dict[str, Any]) -> GateOffset:
        return GateOffset.from_dict(self._spec.source.name, found, self._spec.begin)

    def _open(self, t0_us: int) -> OpenTopic:
        if self._topic is None or t0_us != self._t0_us:
            self._topic = open_topic(self._spec.source, self._spec.topics, t0_us)
            self._t0_us = t0_us
        return self._topic


class GateSource(DataSource):
    """The gate under the name by which Spark knows it."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._spec: GateSpec = pickle.loads(base64.b64decode(options["spec"]))

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> str:
        """The columns that the gate hands out."""
        return self._spec.admission.shape.ddl(self._spec.source)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """A reader for one query."""
        return GateReader(self._spec)

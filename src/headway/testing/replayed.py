"""What a run on Spark should have answered: the reference engine over the batches in its log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from headway.engine.reference.run import Answer, Arrived, Batch, Outcome, SetAside, run_flow
from headway.engine.spark.folder import plain
from headway.engine.spark.gate.columns import seq_of
from headway.engine.spark.gate.offset_log import LoggedBatch, read_offset_log
from headway.engine.topics.opening import open_topic
from headway.engine.topics.port import Records, Slice
from headway.engine.topics.spool import ARRIVAL, list_files
from headway.errors import CheckpointError, TopicError
from headway.flow.graph import Flow
from headway.flow.steps import Sink, Source
from headway.testing.broker import answers_in


def reference_outcome(flow: Flow, folder: Path, sink: str | None = None) -> Outcome:
    """The answers that a run should have given, with the batch cuts and watermarks of its log.

    Only completed batches count. Numbers of batches are those of Spark, so that answers can be
    compared batch by batch; the log must reach back to the first of them.
    """
    wanted = sink_called(flow, sink)
    logged = [b for b in read_offset_log(checkpoint_of(folder, wanted)) if b.committed]
    if [batch.batch for batch in logged] != list(range(len(logged))):
        raise CheckpointError(
            f"Spark has purged the log under {folder}; keep it whole with the setting "
            "spark.sql.streaming.minBatchesToRetain"
        )
    part = flow.part_for(wanted)
    unreadable: list[SetAside] = []
    batches = [
        Batch(
            {
                source.name: arrived((number, source), each, folder, unreadable)
                for number, source in enumerate(part.sources)
            },
            each.watermark_ms,
        )
        for each in logged
    ]
    outcome = run_flow(part, wanted.name, batches, ended=False)
    return Outcome(outcome.answers, (*unreadable, *outcome.set_aside))


def published(flow: Flow, folder: Path, sink: str | None = None) -> tuple[Answer, ...]:
    """The answers that a run has put into its spool, Parquet or Kafka sink, each with its batch.

    A topic is taken to hold the answers of this run alone.
    """
    wanted = sink_called(flow, sink)
    place = Path(wanted.target.address)
    run = json.loads((folder / "run.json").read_text())["run"]
    match wanted.target.kind:
        case "spool":
            tables = spooled_tables(place, run)
        case "parquet":
            tables = parquet_tables(place, run)
        case "kafka":
            found = answers_in(wanted.target.address)
            return tuple(Answer(batch, row) for batch, row in found)
        case kind:
            raise TopicError(f"a {kind} sink keeps no answers; use a spool or Parquet to compare")
    return tuple(Answer(batch, row) for batch, table in tables for row in table.to_pylist())


def sink_called(flow: Flow, name: str | None) -> Sink:
    """The sink of that name, or the first."""
    return next(sink for sink in flow.sinks if name in (None, sink.name))


def checkpoint_of(folder: Path, sink: Sink) -> Path:
    """Where Spark keeps its log of the query for one sink."""
    return folder / "checkpoint" / plain(sink.name)


def arrived(
    numbered: tuple[int, Source], batch: LoggedBatch, folder: Path, unreadable: list[SetAside]
) -> list[Arrived]:
    """The records of one source that a batch took; what could not be read joins `unreadable`."""
    number, source = numbered
    end = batch.ends[source.name]
    topic = open_topic(source, folder / "topics", end.decision.t0_us)
    found: list[Arrived] = []
    for partition, stop in end.position.items():
        first = batch.starts[source.name].get(partition, 0)
        if first == stop:
            continue
        for records in topic.read(Slice(partition, first, stop)):
            found += rows_of(records, number, partition)
            unreadable += [
                SetAside(source.name, "unreadable", None, bad.raw, bad.reason)
                for bad in records.bad
            ]
    return found


def rows_of(records: Records, number: int, partition: str) -> Iterator[Arrived]:
    """Records as the reference engine takes them, numbered as the gate numbers them."""
    seqs = seq_of(number, partition, records.offsets)
    for arrival_us, seq, record in zip(
        records.arrivals_us, seqs, records.batch.to_pylist(), strict=True
    ):
        yield Arrived(int(arrival_us), int(seq), record)


def spooled_tables(folder: Path, run: str) -> Iterator[tuple[int, pa.Table]]:
    """What one run appended to a spool, by batch."""
    for partition in sorted(folder.glob("p[0-9]*")):
        for file in list_files(partition):
            owner, _, batch = (file.tag or "").rpartition("-")
            if owner == run:
                rows = pa.Table.from_batches([file.read()])
                yield int(batch), rows.drop_columns([ARRIVAL])


def parquet_tables(folder: Path, run: str) -> Iterator[tuple[int, pa.Table]]:
    """The files that one run has put into a Parquet sink, by batch."""
    for path in sorted(folder.glob(f"batch-*-{run}.parquet")):
        yield int(path.stem.split("-")[1]), pyarrow.parquet.read_table(path)

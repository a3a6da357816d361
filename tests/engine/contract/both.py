"""Run one flow on the Spark engine and, over the same batches, on the reference engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import headway as hw
from headway.engine.reference.run import Arrived, Batch, Outcome, run_flow
from headway.engine.spark.gate.offsets import GateOffset
from headway.engine.spark.run import RunHandle
from headway.engine.topics.quarantine import read_quarantine
from headway.flow.stream import Stream
from headway.flow.topics import ReplayedRecords

Row = tuple[tuple[str, Any], ...]


@dataclass
class Ran:
    """What the Spark engine did."""

    handle: RunHandle
    answers: list[tuple[int, dict[str, Any]]]
    late: int
    offsets: list[dict[str, GateOffset]] = field(default_factory=list)


def run_on_spark(
    spark: SparkSession,
    stream: Stream,
    folder: Path,
    pace: hw.Pace,
    buckets: int = 4,
) -> tuple[hw.Flow, Ran]:
    """Run to the end of the topic and collect the answers by batch."""
    answers: list[tuple[int, dict[str, Any]]] = []

    def keep(batch: int, table: pa.Table) -> None:
        answers.extend((batch, row) for row in table.to_pylist())

    flow = stream.to(keep, name="kept")
    settings = hw.Settings(pace=pace, buckets=buckets)
    handle = hw.run(flow, folder=folder, session=spark, settings=settings)
    assert handle.wait(120)
    set_aside = read_quarantine(folder / "quarantine" / "kept")
    whys = set_aside.column("why").to_pylist() if set_aside.num_rows else []
    return flow, Ran(handle, answers, whys.count("late"), logged_offsets(flow, folder))


def logged_offsets(flow: hw.Flow, folder: Path) -> list[dict[str, GateOffset]]:
    """Where each batch ended, as Spark's own log has it."""
    logs = sorted((folder / "checkpoint" / "kept" / "offsets").glob("[0-9]*"), key=log_number)
    found = []
    for log in logs:
        texts = [json.loads(line) for line in log.read_text().splitlines()[2:]]
        names = {name: text for text in texts for name in text if name != "headway"}
        found.append({n: GateOffset.from_dict(n, text) for n, text in names.items()})
    return found


def log_number(path: Path) -> int:
    return int(path.name)


def run_on_reference(flow: hw.Flow, offsets: Sequence[dict[str, GateOffset]]) -> Outcome:
    """The reference engine over the batches that Spark's log names."""
    batches = []
    done = {source.name: 0 for source in flow.sources}
    for ends in offsets:
        admitted = {}
        for source in flow.sources:
            stop = ends[source.name].position["0"]
            admitted[source.name] = arrived(source, done[source.name], stop, ends[source.name])
            done[source.name] = stop
        watermark = max(end.decision.wm_ms for end in ends.values())
        batches.append(Batch(admitted, watermark))
    return run_flow(flow, None, batches, ended=False)


def arrived(source: Any, first: int, stop: int, end: GateOffset) -> list[Arrived]:
    topic = source.topic
    assert isinstance(topic, ReplayedRecords)
    due = topic.rate.due_us(first, stop)
    return [
        Arrived(end.decision.t0_us + int(due[n - first]), n, dict(topic.records[n]))
        for n in range(first, stop)
    ]


def rows_of(answers: Sequence[tuple[int, dict[str, Any]]]) -> Counter[tuple[int, Row]]:
    """Answers as a multiset, with times in one zone."""
    return Counter((batch, canonical(row)) for batch, row in answers)


def canonical(row: dict[str, Any]) -> Row:
    return tuple((name, plain(value)) for name, value in row.items())


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, float):
        return float(f"{value:.12g}")
    return tuple(map(plain, value)) if isinstance(value, list) else value


def assert_engines_agree(
    spark: SparkSession,
    make: Callable[[], Stream],
    folder: Path,
    pace: hw.Pace = hw.Pace(interval_s=0, max_rows=7),  # noqa: B008, RUF100
) -> Ran:
    """Both engines give the same answers in the same batches, and set aside the same records."""
    flow, ran = run_on_spark(spark, make(), folder, pace)
    expected = run_on_reference(flow, ran.offsets)
    wanted = rows_of([(answer.batch, answer.row) for answer in expected.answers])
    found = rows_of(ran.answers)
    assert found == wanted, f"missing {wanted - found}, unexpected {found - wanted}"
    assert ran.late == sum(aside.reason == "late" for aside in expected.set_aside)
    assert ran.handle.account.balanced, str(ran.handle.account)
    return ran

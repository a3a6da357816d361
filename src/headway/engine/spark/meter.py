"""From what Spark and the sink report of a batch to its line in the log."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from headway.engine.spark.gate.control import Control
from headway.engine.spark.gate.offset_log import LoggedBatch, read_offset_log
from headway.engine.spark.gate.offsets import GateOffset
from headway.engine.spark.set_aside import Ranges, SetAside, count_set_aside
from headway.engine.topics.port import count_between
from headway.measure.account import Account
from headway.measure.batches import BatchLine, BatchLog
from headway.measure.latency import Ages, Latency

OBSERVED = "headway"
LINES_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Published:
    """What the sink knows of a batch: when its answers were out, how many, how late its windows."""

    at_us: int
    answers: int
    windows: Latency


class Meter:
    """Keeps the log of one query and the account of its records."""

    def __init__(
        self, query: str, control: Control, log: BatchLog, quarantine: Path, checkpoint: Path
    ) -> None:
        self._query, self._control, self._log = query, control, log
        self._quarantine = quarantine
        self.failure: Exception | None = None  # why the last batch has no line
        self._published: dict[int, Published] = {}
        self._lock = threading.Lock()
        self._notes: tuple[Path, ...] = ()
        # The log has them all; in memory stay enough for a live view and a report.
        mine = (line for line in log.lines() if line.query == query)
        self.lines: deque[BatchLine] = deque(mine, maxlen=LINES_KEPT)
        self._last = self.lines[-1].batch if self.lines else -1
        last = self.lines[-1].account if self.lines else asdict(Account())
        self._answered, self._set_aside = last["answered"], last["quarantined"]
        self._blank = last.get("blank", 0)
        self._recover(checkpoint)

    def published(self, batch: int, what: Published) -> None:
        """Note that a batch's answers are out."""
        with self._lock:
            self._published[batch] = what

    def progress(self, progress: dict[str, Any]) -> BatchLine | None:
        """Take one progress event; returns the batch's line, or None if it is no new batch."""
        batch = int(progress["batchId"])
        with self._lock:
            published = self._published.pop(batch, None)
            if published is None or batch <= self._last:
                return None
            line = self._line(batch, progress, published)
            self._enter(line)
            return line

    def _line(self, batch: int, progress: dict[str, Any], published: Published) -> BatchLine:
        ends = [GateOffset.from_json(source_of(s), s["endOffset"]) for s in progress["sources"]]
        starts = [s.get("startOffset") or {} for s in progress["sources"]]
        latency = Latency.none()
        for end in ends:
            row = progress["observed"].get(f"{OBSERVED}:{end.source}")
            ages = Ages.from_row(row)
            self._blank += ages.blank if ages else 0
            latency += Latency.later(ages, (published.at_us - end.decision.at_us) / 1e6)
        rows = latency.count
        # No answer comes before its record: where it seems so, the clocks disagree.
        ahead_s = max(0.0, -latency.min_s)
        latency = latency.not_negative()
        ranges = ranges_of(ends, starts)
        aside = count_set_aside(self._quarantine, ranges, self._control.expected)
        self._count(rows, aside)
        decided = ends[0].decision
        return BatchLine(
            query=self._query,
            batch=batch,
            started_s=datetime.fromisoformat(progress["timestamp"]).timestamp(),
            published_s=published.at_us / 1e6,
            rows=rows,
            answers=published.answers,
            quarantined=aside.quarantined,
            interval_s=decided.interval_us / 1e6,
            max_rows=decided.max_rows,
            readers=decided.readers,
            because=decided.because,
            watermark_s=decided.wm_ms / 1e3,
            start=merged(starts),
            end=merged([end.to_dict() for end in ends]),
            latency=latency.as_dict(),
            window_latency=published.windows.as_dict(),
            account=asdict(self.account(ends)),
            durations_s={k: v / 1e3 for k, v in progress["durationMs"].items()},
            latency_steps=latency.steps(),
            clock_ahead_s=round(ahead_s, 6),
        )

    def account(self, ends: list[GateOffset]) -> Account:
        """Where every record that arrived is, once batches up to `ends` are published."""
        total = Account()
        for end in ends:
            view = self._control.view(end.source)
            reach = view.reach if view else end.position
            reach = {p: max(stop, reach.get(p, 0)) for p, stop in end.position.items()} | {
                p: stop for p, stop in reach.items() if p not in end.position
            }
            total = replace(
                total,
                arrived=total.arrived + count_between(end.decision.begin, reach),
                waiting=total.waiting + count_between(end.position, reach),
            )
        return replace(
            total, answered=self._answered, quarantined=self._set_aside, blank=self._blank
        )

    def _count(self, rows: int, aside: SetAside) -> None:
        self._answered += rows - aside.failed
        self._set_aside += aside.quarantined
        self._blank += aside.blank
        self._notes += aside.notes

    def _enter(self, line: BatchLine) -> None:
        self._last = line.batch
        self.lines.append(line)
        self._log.append(line)
        for note in self._notes:
            note.unlink(missing_ok=True)
        self._notes = ()

    def _recover(self, checkpoint: Path) -> None:
        """Enter the batches that were completed but whose lines a crash kept out of the log."""
        for batch in read_offset_log(checkpoint):
            if batch.committed and batch.batch > self._last:
                at_s = (checkpoint / "commits" / str(batch.batch)).stat().st_mtime
                self._enter(self._recovered(batch, at_s))

    def _recovered(self, batch: LoggedBatch, at_s: float) -> BatchLine:
        ends = list(batch.ends.values())
        ranges = {end.source: (batch.starts[end.source], end.position) for end in ends}
        aside = count_set_aside(self._quarantine, ranges, self._control.expected)
        taken = sum(count_between(start, end) for start, end in ranges.values())
        rows = taken - aside.kept_out - aside.blank
        self._count(rows, aside)
        decided = ends[0].decision
        return BatchLine(
            query=self._query,
            batch=batch.batch,
            started_s=at_s,
            published_s=at_s,
            rows=rows,
            answers=0,
            quarantined=aside.quarantined,
            interval_s=decided.interval_us / 1e6,
            max_rows=decided.max_rows,
            readers=decided.readers,
            because="recovered after a crash",
            watermark_s=decided.wm_ms / 1e3,
            start=dict(batch.starts),
            end={end.source: end.position for end in ends},
            latency=Latency.none().as_dict(),
            window_latency=Latency.none().as_dict(),
            account=asdict(self.account(ends)),
        )


def ranges_of(ends: list[GateOffset], starts: list[dict[str, Any]]) -> Ranges:
    """What a batch took of each source; one without a start began where the run did."""
    began = merged(starts)
    return {end.source: (began.get(end.source, end.decision.begin), end.position) for end in ends}


def source_of(described: dict[str, Any]) -> str:
    """The name of a source in a progress event: the offset's own key beside headway's."""
    offset = described["endOffset"]
    names = [name for name in offset if name != "headway"]
    return str(names[0])


def merged(offsets: list[dict[str, Any]]) -> dict[str, Any]:
    """Positions of all sources, without the decisions, which have columns of their own."""
    return {k: v for offset in offsets for k, v in offset.items() if k != "headway"}

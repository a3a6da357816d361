"""From what Spark and the sink report of a batch to its line in the log."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.offset_log import LoggedBatch, read_offset_log
from headway.engine.spark.gate.offsets import NATIVE, Decision, GateOffset
from headway.engine.spark.metering.gaps import GapSample
from headway.engine.spark.metering.set_aside import Ranges, SetAside, count_set_aside
from headway.engine.spark.metering.stages import Glances
from headway.engine.topics.port import Position, count_between
from headway.flow.steps import Sink
from headway.measure.account import Account
from headway.measure.batches import BatchLine, BatchLog
from headway.measure.latency import Ages, Latency
from headway.measure.moments import ARRIVALS, SERVICE, Moments
from headway.measure.phases import Timeline, micro_batch_phases

OBSERVED = "headway"
LINES_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Published:
    """What the sink knows of a batch: how many answers, how late its windows, and the instants.

    Spark called for the batch, its result was there, its answers were out, Spark was let go on.
    """

    at_us: int
    answers: int
    windows: Latency
    called_us: int = 0
    computed_us: int = 0
    returned_us: int = 0


class Arrivals(Protocol):
    """Who knows how far the topics of a query have come."""

    expected: tuple[str, ...]  # the names of the sources, in flow order

    def reach_of(self, source: str) -> Position | None:
        """How far a source has arrived, if that is known yet."""
        ...


class Meter:
    """Keeps the log of one query and the account of its records, whatever its mode."""

    def __init__(self, sink: Sink, folder: RunFolder, arrivals: Arrivals) -> None:
        self._query, self._arrivals = sink.name, arrivals
        self._log = log = BatchLog(folder.log)
        self._quarantine = folder.set_aside(sink)
        self._begins = folder.begins(sink)
        self.failure: Exception | None = None  # why the last batch has no line
        self._lock = threading.Lock()
        self._notes: tuple[Path, ...] = ()
        # The log has them all; in memory stay enough for a live view and a report.
        mine = (line for line in log.lines() if line.query == self._query)
        self.lines: deque[BatchLine] = deque(mine, maxlen=LINES_KEPT)
        self._last = self.lines[-1].batch if self.lines else -1
        last = self.lines[-1].account if self.lines else asdict(Account())
        self._answered, self._set_aside = last["answered"], last["quarantined"]
        self._blank = last.get("blank", 0)
        self._recover(folder.checkpoint(sink))

    def progress(self, progress: dict[str, Any]) -> BatchLine | None:
        """Take one progress event; returns the batch's line, or None if it is no new batch."""
        batch = int(progress["batchId"])
        with self._lock:
            line = self.line_of(batch, progress) if batch > self._last else None
            if line is not None:
                self._enter(line)
            return line

    def line_of(self, batch: int, progress: dict[str, Any]) -> BatchLine | None:
        """The line of a batch; None when its event says nothing new."""
        raise NotImplementedError

    def account(self, ends: list[GateOffset]) -> Account:
        """Where every record that arrived is, once batches up to `ends` are published."""
        total = Account()
        for end in ends:
            reach = self._arrivals.reach_of(end.source) or end.position
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

    def offsets_of(self, progress: dict[str, Any]) -> tuple[list[GateOffset], list[dict[str, Any]]]:
        """Where each source of a batch ended, and began."""
        ends = []
        for described in progress["sources"]:
            name = source_of(described)
            begin = self._begins.get(name)
            ends.append(GateOffset.from_dict(name, described["endOffset"], begin))
        return ends, [described.get("startOffset") or {} for described in progress["sources"]]

    def count(self, ranges: Ranges, rows: int) -> SetAside:
        """Enter a batch in the account: its rows, and what of its ranges was set aside."""
        aside = count_set_aside(self._quarantine, ranges, self._arrivals.expected)
        self._answered += rows - aside.failed
        self._set_aside += aside.quarantined
        self._blank += aside.blank
        self._notes += aside.notes
        return aside

    def _enter(self, line: BatchLine) -> None:
        self._last = line.batch
        self.lines.append(line)
        self._log.append(line)
        for note in self._notes:
            note.unlink(missing_ok=True)
        self._notes = ()

    def _recover(self, checkpoint: Path) -> None:
        """Enter the batches that were completed but whose lines a crash kept out of the log."""
        for batch in read_offset_log(checkpoint, self._begins):
            if batch.committed and batch.batch > self._last:
                at_s = (checkpoint / "commits" / str(batch.batch)).stat().st_mtime
                self._enter(self._recovered(batch, at_s))

    def _recovered(self, batch: LoggedBatch, at_s: float) -> BatchLine:
        ends = list(batch.ends.values())
        ranges = {end.source: (batch.starts[end.source], end.position) for end in ends}
        aside = count_set_aside(self._quarantine, ranges, self._arrivals.expected)
        taken = sum(count_between(start, end) for start, end in ranges.values())
        rows = taken - aside.kept_out - aside.blank
        self.count(ranges, rows)
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


class GateMeter(Meter):
    """The meter of a query behind the gate: a line for each batch that was published."""

    def __init__(self, sink: Sink, folder: RunFolder, arrivals: Arrivals) -> None:
        self._published: dict[int, Published] = {}
        self.glances: Glances | None = None  # at the stages of batches
        self.gaps: GapSample | None = None  # between arrivals
        super().__init__(sink, folder, arrivals)

    def published(self, batch: int, what: Published) -> None:
        """Note that a batch's answers are out."""
        with self._lock:
            self._published[batch] = what

    def line_of(self, batch: int, progress: dict[str, Any]) -> BatchLine | None:
        """The line of a batch whose answers are out."""
        published = self._published.pop(batch, None)
        if published is None:
            return None
        ends, starts = self.offsets_of(progress)
        latency, aged = self._latencies(progress, ends, published)
        rows = latency.count
        # No answer comes before its record: where it seems so, the clocks disagree.
        ahead_s = max(0.0, -latency.min_s)
        latency = latency.not_negative()
        ranges = ranges_of(ends, starts)
        aside = self.count(ranges, rows)
        decided = ends[0].decision
        phases = self._phases(progress, published, decided, aged.not_negative())
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
            phases=phases,
            moments=self._moments(ranges, published.at_us - decided.at_us) if phases else {},
        )

    def _latencies(
        self, progress: dict[str, Any], ends: list[GateOffset], published: Published
    ) -> tuple[Latency, Latency]:
        """How old the records were when their answers were out, and when the batch was decided."""
        latency = aged = Latency.none()
        for end in ends:
            ages = Ages.from_row(progress["observed"].get(f"{OBSERVED}:{end.source}"))
            self._blank += ages.blank if ages else 0
            latency += Latency.later(ages, (published.at_us - end.decision.at_us) / 1e6)
            aged += Latency.later(ages, 0.0)
        return latency, aged

    def _moments(self, ranges: Ranges, served_us: int) -> dict[str, dict[str, float]]:
        """How records came, and how long the batch was served: batches are what queues here."""
        gaps = self.gaps.look(ranges) if self.gaps else Moments()
        found = {SERVICE: Moments.of([max(0, served_us) / 1e6]), ARRIVALS: gaps}
        return {name: each.as_dict() for name, each in found.items() if each.count}

    def _phases(
        self, progress: dict[str, Any], published: Published, decided: Decision, aged: Latency
    ) -> dict[str, dict[str, Any]]:
        """Where the time of the batch's answers went."""
        if not aged.count or not published.called_us or decided.because == NATIVE:
            return {}
        took_s = {name: ms / 1e3 for name, ms in progress["durationMs"].items()}
        commit_ms = sum(each.get("commitTimeMs", 0) for each in progress["stateOperators"])
        between = (published.called_us, published.computed_us)
        called_s = (published.returned_us - published.called_us) / 1e6
        # Before it calls for the batch Spark makes the job of it, in which it generates code.
        made_s = max(0.0, took_s.get("addBatch", 0.0) - called_s)
        timeline = Timeline(
            decided.at_us,
            published.called_us,
            published.computed_us,
            published.at_us,
            {
                "offsets": took_s.get("walCommit", 0.0),
                "planning": took_s.get("queryPlanning", 0.0) + took_s.get("getBatch", 0.0) + made_s,
            },
            self.glances.within(*between, commit_ms / 1e3) if self.glances else {},
        )
        before_s = self.lines[-1].published_s if self.lines else 0.0
        found = micro_batch_phases(aged, decided.at_us / 1e6 - before_s, timeline)
        return {name: phase.as_dict() for name, phase in found.items()}


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

"""From what Spark and the sink report of a batch to its line in the log."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from headway.clock import SystemClock
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.offset_log import LoggedBatch, read_offset_log
from headway.engine.spark.gate.offsets import NATIVE, Decision, GateOffset
from headway.engine.spark.metering.gaps import GapSample
from headway.engine.spark.metering.logbook import Logbook
from headway.engine.spark.metering.published import Outbox, Published
from headway.engine.spark.metering.set_aside import Ranges, SetAside, count_set_aside
from headway.engine.spark.metering.stages import Glances
from headway.engine.spark.metering.times import StateKind, timeline_of, work_of
from headway.engine.topics.port import Position, count_between
from headway.flow.steps import Sink
from headway.measure.account import Account
from headway.measure.batches import BatchLine
from headway.measure.latency import Ages, Latency
from headway.measure.moments import ARRIVALS, SERVICE, Moments
from headway.measure.phases import micro_batch_phases

OBSERVED = "headway"


class Arrivals(Protocol):
    """Who knows how far the topics of a query have come."""

    expected: tuple[str, ...]  # the names of the sources, in flow order

    def reach_of(self, source: str) -> Position | None:
        """How far a source has arrived, if that is known yet."""
        ...


class Meter(Logbook):
    """Keeps the log of one query and the account of its records, whatever its mode."""

    def __init__(self, sink: Sink, folder: RunFolder, arrivals: Arrivals) -> None:
        super().__init__(sink.name, folder.log)
        self._arrivals = arrivals
        self._quarantine = folder.set_aside(sink)
        self._begins = folder.begins(sink)
        self._notes: tuple[Path, ...] = ()
        last = self.lines[-1].account if self.lines else asdict(Account())
        self._answered, self._set_aside = last["answered"], last["quarantined"]
        self._blank = last.get("blank", 0)
        self._recover(folder.checkpoint(sink))

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

    def enter(self, line: BatchLine) -> None:
        """Add a line; what only counted for it may go."""
        super().enter(line)
        for note in self._notes:
            note.unlink(missing_ok=True)
        self._notes = ()

    def _recover(self, checkpoint: Path) -> None:
        """Enter the batches that were completed but whose lines a crash kept out of the log."""
        for batch in read_offset_log(checkpoint, self._begins):
            if batch.committed and batch.batch > self._last:
                at_s = (checkpoint / "commits" / str(batch.batch)).stat().st_mtime
                self.enter(self._recovered(batch, at_s))

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

    def __init__(
        self, sink: Sink, folder: RunFolder, arrivals: Arrivals, outbox: Outbox | None = None
    ) -> None:
        self._published = Outbox() if outbox is None else outbox
        self._begun_us = SystemClock().now_us()
        self.glances: Glances | None = None  # at the stages of batches
        self.gaps: GapSample | None = None  # between arrivals
        self.kind = StateKind()
        super().__init__(sink, folder, arrivals)

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
        phases = self._phases(progress, published, decided, aged)
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
            work=work_of(progress, self.glances, self.kind) if phases else {},
            store=self.kind.store,
        )

    def _latencies(
        self, progress: dict[str, Any], ends: list[GateOffset], published: Published
    ) -> tuple[Latency, Latency]:
        """How old the records were when their answers were out, and when the batch was decided."""
        latency = aged = Latency.none()
        for end in ends:
            seen = progress["observed"].get(f"{OBSERVED}:{end.source}")
            ages = Ages.from_rows(seen["ages"] if seen else [])
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
        if self.glances is None or aged.min_s < 0:  # not wanted, or the clocks disagree
            return {}
        glances = self.glances.of(aged.count, decided.readers)
        timeline = timeline_of(progress, published, decided.at_us, self._begun_us, glances)
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

"""From what Spark reports of a batch without a gate to its line in the log."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from headway.clock import SystemClock
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.frames.left import metadata_of
from headway.engine.spark.frames.read import CAME
from headway.engine.spark.gate.offset_log import numbered
from headway.engine.spark.metering.logbook import Logbook
from headway.engine.spark.metering.meter import OBSERVED
from headway.engine.spark.metering.published import Outbox, Published
from headway.engine.spark.metering.stages import Glances
from headway.engine.spark.metering.times import StateKind, timeline_of, work_of
from headway.engine.spark.realtime.stamps import told
from headway.flow.graph import Flow
from headway.flow.topics import StreamedFrame
from headway.keep.pacing import Pace
from headway.measure.account import Account
from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.moments import SERVICE, Moments
from headway.measure.phases import micro_batch_phases

NO_GATE = "no gate: Spark decides"
LOST_LINE = "recovered after a crash; how many records it had is not known"


class FrameMeter(Logbook):
    """The meter of a query whose records came without a gate: a line for each published batch."""

    def __init__(self, part: Flow, folder: RunFolder, outbox: Outbox, pace: Pace) -> None:
        super().__init__(part.sinks[0].name, folder.log)
        self._sources = [source.name for source in part.sources]
        self._timed = all(
            isinstance(source.topic, StreamedFrame) and source.topic.arrival is not None
            for source in part.sources
        )
        self._published, self._pace = outbox, pace
        self.kind = StateKind()
        self.epoch_us = SystemClock().now_us()
        self._checkpoint = folder.checkpoint(part.sinks[0])
        self.glances: Glances | None = None
        last = Account(**self.lines[-1].account) if self.lines else Account()
        self._answered = last.answered
        self._recover()

    def line_of(self, batch: int, progress: dict[str, Any]) -> BatchLine | None:
        """The line of a batch whose answers are out."""
        published = self._published.pop(batch, None)
        if published is None:
            return None
        started_s = datetime.fromisoformat(progress["timestamp"]).timestamp()
        decided_us = decided_in(self._checkpoint, batch) or round(started_s * 1e6)
        rows, aged = self._aged(progress, decided_us)
        latency = aged.moved((published.at_us - decided_us) / 1e6)
        self._answered += rows
        phases = self._phases(progress, published, decided_us, aged)
        return BatchLine(
            query=self._query,
            batch=batch,
            started_s=started_s,
            published_s=published.at_us / 1e6,
            rows=rows,
            answers=published.answers,
            quarantined=0,
            interval_s=self._pace.interval_s,
            max_rows=None,
            readers=0,
            because=self._because(progress),
            watermark_s=watermark_s(progress),
            start=self._offsets(progress, "startOffset"),
            end=self._offsets(progress, "endOffset"),
            latency=latency.not_negative().as_dict(),
            window_latency=published.windows.as_dict(),
            account=asdict(self._account()),
            durations_s={k: v / 1e3 for k, v in progress["durationMs"].items()},
            latency_steps=latency.not_negative().steps(),
            clock_ahead_s=round(max(0.0, -latency.min_s), 6),
            phases=phases,
            work=work_of(progress, self.glances, self.kind),
            store=self.kind.store,
            moments={SERVICE: Moments.of([(published.at_us - decided_us) / 1e6]).as_dict()},
        )

    def _account(self) -> Account:
        """Records that came out of the frames; what a frame leaves out itself never came here."""
        return Account(arrived=self._answered, answered=self._answered)

    def _recover(self) -> None:
        """Enter batches that were completed but whose lines a crash kept out of the log."""
        for number, path in sorted(numbered(self._checkpoint / "commits").items()):
            if number > self._last:
                at_s = path.stat().st_mtime
                none = Latency.none().as_dict()
                self.enter(
                    BatchLine(
                        self._query, number, at_s, at_s, 0, 0, 0, self._pace.interval_s, None, 0,
                        LOST_LINE, 0.0, {}, {}, none, none, asdict(self._account()),
                    )
                )  # fmt: skip

    def _aged(self, progress: dict[str, Any], decided_us: int) -> tuple[int, Latency]:
        """How many records a batch had, and how old they were when it was decided."""
        seen = [progress["observed"].get(f"{OBSERVED}:{name}") for name in self._sources]
        known = [row for row in seen if row is not None and row["rows"]]
        sums = (told(row, CAME) for row in known)
        came = Latency.together(each.latency() for each in sums if each is not None)
        aged = came.before((decided_us - self.epoch_us) / 1e6)
        return sum(int(row["rows"]) for row in known), aged

    def _phases(
        self, progress: dict[str, Any], published: Published, decided_us: int, aged: Latency
    ) -> dict[str, dict[str, Any]]:
        if not aged.count or self.glances is None or aged.min_s < 0:
            return {}
        glances = self.glances.of(aged.count, 1)
        timeline = timeline_of(progress, published, decided_us, self.epoch_us, glances)
        before_s = self.lines[-1].published_s if self.lines else 0.0
        found = micro_batch_phases(aged, decided_us / 1e6 - before_s, timeline)
        return {name: phase.as_dict() for name, phase in found.items()}

    def _because(self, progress: dict[str, Any]) -> str:
        said = [NO_GATE] if self._timed else [NO_GATE, "arrivals unknown: from the batch's start"]
        late = sum(o.get("numRowsDroppedByWatermark", 0) for o in progress["stateOperators"])
        return "; ".join(said + [f"Spark dropped {late} late rows"] * bool(late))

    def _offsets(self, progress: dict[str, Any], which: str) -> dict[str, Any]:
        # One frame may read several sources: they are told in Spark's order.
        return {str(place): each.get(which) for place, each in enumerate(progress["sources"])}


def decided_in(checkpoint: Path, batch: int) -> int:
    """When Spark had decided what a batch takes, in microseconds; 0 where its log does not tell."""
    path = checkpoint / "offsets" / str(batch)
    if not path.exists():
        return 0
    return int(metadata_of(path).get("batchTimestampMs", 0)) * 1_000


def watermark_s(progress: dict[str, Any]) -> float:
    """The watermark of a batch; 0 where the query has none."""
    text = (progress.get("eventTime") or {}).get("watermark")
    return datetime.fromisoformat(text).timestamp() if text else 0.0

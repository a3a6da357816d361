"""From what Spark reports of a checkpoint interval in real-time mode to its line in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from headway.clock import Clock
from headway.engine.kafka.finals import Finals
from headway.engine.kafka.witness import Witness
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.admission import Admission, admit_records
from headway.engine.spark.gate.offsets import NATIVE, Decision, GateOffset
from headway.engine.spark.metering.gaps import GapSample
from headway.engine.spark.metering.meter import OBSERVED, Meter, merged, ranges_of
from headway.engine.spark.metering.set_aside import Ranges
from headway.engine.spark.metering.stages import SLACK_US, Stage, cpu_of
from headway.engine.spark.metering.times import work_of
from headway.engine.spark.realtime.handover import watermark_before
from headway.engine.spark.realtime.stamps import told
from headway.engine.spark.realtime.write import OUT, times_of
from headway.engine.topics.opening import open_topic
from headway.engine.topics.port import OpenTopic, Position, count_between, share_out
from headway.flow.steps import Sink
from headway.measure.batches import BatchLine
from headway.measure.costs.stretches import BEGAN
from headway.measure.latency import Latency, sampled
from headway.measure.moments import ARRIVALS, RECORD_SERVICE, Moments
from headway.measure.phases import real_time_phases
from headway.measure.together import LONG_MS, Together
from headway.plan.modes import RealTime

EARLY_MS = 60_000  # by which the clock of a reader may be behind the driver's


def moments_in(sample: Latency) -> Moments:
    """The moments of a weighted sample."""
    if not sample.count:
        return Moments()
    powers = (float(np.average(sample.values_s**n, weights=sample.weights)) for n in (1, 2, 3))
    return Moments(sample.count, *powers)


def later_by(whole: Latency, publish: Latency) -> Latency:
    """Latencies with the time to publish on top: its mean for their mean, its median for each.

    Spark's clock tells whole milliseconds.
    """
    if not whole.count:
        return whole
    moved = whole.spread_over(0.001).moved(publish.quantile(0.5))
    return replace(moved, mean_s=whole.mean_s + publish.mean_s)


def pause_and_fetch(read: Together, begun_s: float) -> tuple[Latency, Latency]:
    """How long records waited for the interval to begin, and then to be read.

    `read` holds the age of each when it was read, and that instant up to a multiple of LONG_MS.
    Records that had come when the interval began waited until its first record was read; what is
    left of their age, and all of the others', is the way from Kafka.
    """
    ages_s = np.maximum(read.times_s[0], 0.0)
    # No record is read long before its interval begins, if clocks differ by no more.
    since_ms = np.mod(np.round((read.times_s[1] - begun_s) * 1e3) + EARLY_MS, LONG_MS) - EARLY_MS
    opened_s, came_s = since_ms.min() / 1e3, since_ms / 1e3 - ages_s
    waited_s = np.clip(opened_s - came_s, 0.0, ages_s)
    if came_s.min() >= 0:
        waited_s = np.zeros_like(ages_s)
    return sampled(waited_s, read.weights), sampled(ages_s - waited_s, read.weights)


class TopicArrivals:
    """How far topics have come, asked of the topics themselves."""

    def __init__(self, admissions: list[Admission], topics: Path, clock: Clock) -> None:
        self.expected = tuple(each.source.name for each in admissions)
        self.clock = clock
        self.topics: dict[str, OpenTopic] = {
            each.source.name: open_topic(each.source, topics, 0) for each in admissions
        }

    def reach_of(self, source: str) -> Position | None:
        """The end of what has arrived."""
        return self.topics[source].reach(self.clock.now_us())


class RealTimeMeter(Meter):
    """The meter of a query in real-time mode: a line for each checkpoint."""

    def __init__(
        self,
        sink: Sink,
        folder: RunFolder,
        arrivals: TopicArrivals,
        admissions: list[Admission],
        knobs: RealTime,
    ) -> None:
        self.finals: Finals | None = None
        self.witness: Witness | None = None
        self.look: Callable[[], Sequence[Stage]] = lambda: ()  # at the stages of a stretch
        self._admissions = {each.source.name: each for each in admissions}
        self._topics, self._knobs, self._clock = arrivals.topics, knobs, arrivals.clock
        self.tasks = knobs.tasks  # that reduce; a checkpoint may know of another number
        self._checkpoint = folder.checkpoint(sink)
        self._run_id = ""  # of Spark's: it has another one after each start
        self._gaps = GapSample(arrivals.topics, arrivals.clock)
        super().__init__(sink, folder, arrivals)

    def line_of(self, batch: int, progress: dict[str, Any]) -> BatchLine | None:
        """The line of a checkpoint interval: every record of it has been answered."""
        ends, starts = self.offsets_of(progress)
        wm_ms = watermark_before(self._checkpoint, batch)
        before = self._set_aside
        ranges = ranges_of(ends, starts)
        rows = self._count(progress, ends, ranges, wm_ms)
        closed = self._settle(batch)
        out = progress["observed"].get(OUT)
        parts = self._parts(progress, ends)
        whole = parts.pop("whole")
        latency = later_by(whole, parts["publish"])
        phases = real_time_phases(whole, parts) if whole.count else {}
        ahead_s = max(0.0, -latency.min_s)
        started_s = datetime.fromisoformat(progress["timestamp"]).timestamp()
        return BatchLine(
            query=self._query,
            batch=batch,
            started_s=started_s,
            published_s=started_s + progress["durationMs"].get("triggerExecution", 0) / 1e3,
            rows=rows,
            answers=(int(out["rows"]) if out else 0) + closed.count,
            quarantined=self._set_aside - before,
            interval_s=self._knobs.checkpoint_s,
            max_rows=None,
            readers=sum(len(end.position) for end in ends),
            because=NATIVE,
            watermark_s=wm_ms / 1e3,
            start=merged(starts),
            end=merged([{end.source: end.position} for end in ends]),
            latency=latency.not_negative().as_dict(),
            window_latency=closed.as_dict(),
            account=asdict(self.account(ends)),
            durations_s={k: v / 1e3 for k, v in progress["durationMs"].items()},
            latency_steps=latency.not_negative().steps(),
            clock_ahead_s=round(ahead_s, 6),
            phases={name: phase.as_dict() for name, phase in phases.items()},
            moments=self._moments(ranges, parts["map"]) if phases else {},
            work=self._work(progress, started_s) if phases else {},
        )

    def _work(self, progress: dict[str, Any], started_s: float) -> dict[str, float]:
        """What was done since the last checkpoint, and how long records might wait for others."""
        own = [stage for stage in self.look() if stage.submitted_us >= started_s * 1e6 - SLACK_US]
        more: dict[str, float] = {"tasks": self.tasks}
        more |= {name: getattr(self._knobs, name) for name in ("shuffle_wait_s", "fetch_wait_s")}
        if progress.get("runId", self._run_id) != self._run_id:
            self._run_id, more[BEGAN] = progress["runId"], 1.0
        return work_of(progress, None) | cpu_of(own) | more

    def _moments(self, ranges: Ranges, mapped: Latency) -> dict[str, dict[str, float]]:
        """How records came, and how long each was decoded and mapped, which is seen one by one."""
        found = {ARRIVALS: self._gaps.look(ranges), RECORD_SERVICE: moments_in(mapped)}
        return {name: each.as_dict() for name, each in found.items() if each.count}

    def _count(
        self, progress: dict[str, Any], ends: list[GateOffset], ranges: Ranges, wm_ms: int
    ) -> int:
        """Enter an interval in the account; how many of its records were answered."""
        read, bad = self._read(progress, ends)
        dropped = sum(o.get("numRowsDroppedByWatermark", 0) for o in progress["stateOperators"])
        taken = sum(count_between(*both) for both in ranges.values())
        if bad or dropped or taken != read:
            self._set_aside_again(ranges, wm_ms)
        # What Spark left out and the gate would not have is in no quarantine: the account shows it.
        late = max(0, self.count(ranges, 0).kept_out - bad)
        self._answered += read - bad - late
        return read - bad - late

    def _parts(self, progress: dict[str, Any], ends: list[GateOffset]) -> dict[str, Latency]:
        """The time from arrival to the sink, its parts, and the way to a consumer, if known."""
        seen = self.witness.taken() if self.witness else Latency.none()
        return (
            self._before(progress, ends)
            | times_of(progress["observed"].get(OUT))
            | {"publish": seen}
        )

    def _before(self, progress: dict[str, Any], ends: list[GateOffset]) -> dict[str, Latency]:
        """How long records that were metered waited to be read, of all sources together."""
        begun_s = datetime.fromisoformat(progress["timestamp"]).timestamp()
        found = {"pause": Latency.none(), "fetch": Latency.none()}
        for end in ends:
            row = progress["observed"].get(f"{OBSERVED}:{end.source}")
            read = told(row, "read", LONG_MS)
            if read is not None:
                pause, fetch = pause_and_fetch(read, begun_s)
                found = {"pause": found["pause"] + pause, "fetch": found["fetch"] + fetch}
        return found

    def _settle(self, batch: int) -> Latency:
        """Tell the final answers of windows that have closed; how late they were told."""
        if self.finals is None:
            return Latency.none()
        watermark_us = watermark_before(self._checkpoint, batch + 1) * 1_000
        ends = np.array(self.finals.settle(batch, watermark_us), dtype=np.float64)
        return Latency.of((self._clock.now_us() - ends) / 1e6).not_negative()

    def _read(self, progress: dict[str, Any], ends: list[GateOffset]) -> tuple[int, int]:
        rows = [progress["observed"].get(f"{OBSERVED}:{end.source}") for end in ends]
        known = [row for row in rows if row is not None]
        return sum(int(row["rows"]) for row in known), sum(int(row["bad"]) for row in known)

    def _set_aside_again(self, ranges: Ranges, wm_ms: int) -> None:
        """Read what Spark has read once more, as the gate would, for what it could not answer."""
        for name, (start, end) in ranges.items():
            decision = Decision(start, wm_ms=wm_ms)
            for piece in (piece for share in share_out(start, end, 1) for piece in share):
                for _ in admit_records(self._topics[name], piece, decision, self._admissions[name]):
                    pass

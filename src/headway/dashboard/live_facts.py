"""What a watcher wants to know of a run right now, gathered batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.dashboard.points import by_query
from headway.dashboard.verdict import Verdict, judge_latency
from headway.flow.goals import Goal
from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.summary import latency_from_figures, latency_of

RECENT_S = 5.0
SPARKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """The state of a run; its latencies leave the warm-up out, and `warm` says that it is over."""

    batches: int
    records: int
    recent_per_s: float
    last: BatchLine | None
    verdict: Verdict
    per_record: Latency
    per_window: Latency
    waiting: int
    quarantined: int
    p99s_s: tuple[float, ...]
    warm: bool


@dataclass(slots=True)
class Gatherer:
    """Takes in the lines of a run as they grow; each line is read once."""

    goal: Goal | None
    warmup: int = 0
    taken: dict[str, int] = field(default_factory=dict)
    warmed: dict[str, int] = field(default_factory=dict)
    per_record: Latency = field(default_factory=Latency.none)
    per_window: Latency = field(default_factory=Latency.none)

    def take(self, lines: Sequence[BatchLine]) -> LiveFacts:
        """The facts after all of `lines`; those of each query come in the order of its batches."""
        for query, own in by_query(lines).items():
            for line in own[self.taken.get(query, 0) :]:
                self._add(line)
            self.taken[query] = len(own)
        lines = sorted(lines, key=lambda line: line.published_s)
        newest = {line.query: line.account for line in lines}
        return LiveFacts(
            batches=len(lines),
            records=sum(line.rows for line in lines),
            recent_per_s=recent_rate(lines),
            last=next((line for line in reversed(lines) if line.rows), None),
            verdict=judge_latency(self.goal, self.per_record, self.per_window),
            per_record=self.per_record,
            per_window=self.per_window,
            waiting=sum(account.get("waiting", 0) for account in newest.values()),
            quarantined=sum(account.get("quarantined", 0) for account in newest.values()),
            p99s_s=tuple(line.latency["p99"] for line in lines if line.latency.get("count")),
            warm=bool(self.warmed) and min(self.warmed.values()) >= self.warmup,
        )

    def _add(self, line: BatchLine) -> None:
        seen = self.warmed.get(line.query, 0)
        self.warmed[line.query] = seen + (line.rows > 0)
        if seen >= self.warmup:
            self.per_record += latency_of(line)
            self.per_window += latency_from_figures(line.window_latency)


def recent_rate(lines: Sequence[BatchLine]) -> float:
    """Records per second in the batches that were published in the last few seconds."""
    if len(lines) < 2:
        return 0.0
    now_s = lines[-1].published_s
    first = next(n for n, line in enumerate(lines) if line.published_s >= now_s - RECENT_S)
    first = min(max(first, 1), len(lines) - 1)
    span_s = now_s - lines[first - 1].published_s
    return sum(line.rows for line in lines[first:]) / span_s if span_s > 0 else 0.0


def sparkline(values: Sequence[float], width: int) -> str:
    """The last `width` values as a row of small bars, the largest full height.

    >>> sparkline([0.0, 0.5, 1.0], 10)
    '▁▅█'
    """
    shown = values[-width:]
    top = max(shown, default=0.0)
    if top <= 0:
        return SPARKS[0] * len(shown)
    return "".join(SPARKS[round(value / top * (len(SPARKS) - 1))] for value in shown)

"""What is drawn over time: one point for each batch, or for a few batches where they are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean, median

from headway.measure.batches import BatchLine
from headway.measure.phases import mean_phases

MOST_POINTS = 400


@dataclass(frozen=True, slots=True)
class Point:
    """A few consecutive batches, most often one, published `at_s` seconds after the start.

    Over several batches rows are the mean, p50 the median, quarantined the sum, the rest the worst.
    A latency is None where no record, or no window, was answered.
    """

    at_s: float
    first_batch: int
    last_batch: int
    rows: float
    quarantined: int
    waiting: int
    duration_s: float
    interval_s: float
    p50_s: float | None
    p99_s: float | None
    window_p50_s: float | None
    window_max_s: float | None
    warm: bool
    because: str
    phases_s: Mapping[str, float] = field(default_factory=dict)  # the mean time in each


def by_query(lines: Sequence[BatchLine]) -> dict[str, list[BatchLine]]:
    """The lines of each query in the order of its batches."""
    ordered = sorted(lines, key=lambda line: (line.query, line.batch))
    return {query: list(own) for query, own in groupby(ordered, key=lambda line: line.query)}


def points_of(
    lines: Sequence[BatchLine], started_s: float, warm: frozenset[int], most: int = MOST_POINTS
) -> list[Point]:
    """The points of one query's batches, `most` at most; `warm` are the batches of its warm-up."""
    size = max(1, -(-len(lines) // most))
    groups = [lines[first : first + size] for first in range(0, len(lines), size)]
    return [point_of(group, started_s, warm) for group in groups]


def point_of(group: Sequence[BatchLine], started_s: float, warm: frozenset[int]) -> Point:
    """One point from the batches that it stands for."""
    seen = [line.latency for line in group if line.latency.get("count")]
    windows = [line.window_latency for line in group if line.window_latency.get("count")]
    last = group[-1]
    return Point(
        at_s=last.published_s - started_s,
        first_batch=group[0].batch,
        last_batch=last.batch,
        rows=fmean(line.rows for line in group),
        quarantined=sum(line.quarantined for line in group),
        waiting=max(line.account.get("waiting", 0) for line in group),
        duration_s=max(line.published_s - line.started_s for line in group),
        interval_s=max(line.interval_s for line in group),
        p50_s=median(one["p50"] for one in seen) if seen else None,
        p99_s=max(one["p99"] for one in seen) if seen else None,
        window_p50_s=median(one["p50"] for one in windows) if windows else None,
        window_max_s=max(one["max"] for one in windows) if windows else None,
        warm=last.batch in warm,
        because=last.because,
        phases_s=mean_phases((line.rows, line.phases) for line in group),
    )

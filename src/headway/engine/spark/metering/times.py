"""The instants of a micro-batch, from what Spark reports and what the sink has noted."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from headway.engine.spark.metering.published import Published
from headway.engine.spark.metering.stages import Glances
from headway.measure.costs.stores import Store
from headway.measure.phases import Timeline


@dataclass(frozen=True, slots=True)
class StateKind:
    """What is known of the states before any batch.

    by_bucket  a pair keeps them by the bucket: of its keys Spark knows nothing
    window_s   from one window to the next, 0 without windows
    lives_s    how long a state lives until its window is final; endless where some stay
    store      where they rest; None where there are none, or in a store that is not headway's
    heap_bytes the heap of all that run tasks
    """

    by_bucket: bool = False
    window_s: float = 0.0
    lives_s: float = inf
    store: Store | None = None
    heap_bytes: float = 0.0


def work_of(
    progress: dict[str, Any], glances: Glances | None, kind: StateKind | None = None
) -> dict[str, float]:
    """What was done in a batch: keys changed, states kept, and what its stages tell."""
    kind = kind or StateKind()
    states, found = progress["stateOperators"], dict[str, float]()
    if states:
        found["memory_bytes"] = sum(each.get("memoryUsedBytes", 0) for each in states)
    if states and kind.heap_bytes:
        found["heap_bytes"] = kind.heap_bytes
    if kind.window_s:
        found["window_s"] = kind.window_s
    if states and isfinite(kind.lives_s):
        found["lives_s"] = kind.lives_s
    if states and not kind.by_bucket:
        found["keys"] = sum(each.get("numRowsUpdated", 0) for each in states)
        found["states"] = sum(each.get("numRowsTotal", 0) for each in states)
    return found | (glances.work() if glances else {})


def timeline_of(
    progress: dict[str, Any],
    published: Published,
    decided_us: int,
    begun_us: int,
    glances: Glances | None,
) -> Timeline:
    """When the batch was decided, called for, computed and published, and what lay in between.

    `begun_us` is when the query was started: a batch decided before that is one that a crash had
    interrupted.
    """
    took_s = {name: ms / 1e3 for name, ms in progress["durationMs"].items()}
    commit_ms = sum(each.get("commitTimeMs", 0) for each in progress["stateOperators"])
    between = (published.called_us, published.computed_us)
    called_s = (published.returned_us - published.called_us) / 1e6
    # Before it calls for the batch Spark makes the job of it, in which it generates code.
    made_s = max(0.0, took_s.get("addBatch", 0.0) - called_s)
    return Timeline(
        decided_us,
        published.called_us,
        published.computed_us,
        published.at_us,
        {
            "down": max(0, begun_us - decided_us) / 1e6,
            "offsets": took_s.get("walCommit", 0.0),
            "planning": took_s.get("queryPlanning", 0.0) + took_s.get("getBatch", 0.0) + made_s,
        },
        glances.within(*between, commit_ms / 1e3) if glances else {},
    )

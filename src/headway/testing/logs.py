"""Logs of runs that never happened, made from a seed, to test whatever reads a log."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.moments import SERVICE, Moments
from headway.measure.phases import Phases, Timeline, micro_batch_phases

START_S = 1_760_000_000.0


def made_lines(count: int, *, query: str = "counts", seed: int = 7) -> list[BatchLine]:
    """A run of `count` batches: a slow start, another pace from half way, now and then a window."""
    chance = np.random.default_rng(seed)
    lines: list[BatchLine] = []
    at_s, answered, aside = START_S, 0, 0
    for batch in range(count):
        slow_s = 6.0 / (batch + 1) if batch < 3 else 0.0
        interval_s = 0.5 if batch < count // 2 else 0.8
        took_s = 0.35 + slow_s + float(chance.gamma(2.0, 0.03))
        ages_s = took_s + chance.uniform(0, interval_s + slow_s, int(2000 * (interval_s + slow_s)))
        quarantined = 3 if batch % 17 == 5 else 0
        answered, aside = answered + len(ages_s), aside + quarantined
        line = made_line(
            ages_s,
            at_s + took_s,
            query=query,
            batch=batch,
            started_s=at_s,
            quarantined=quarantined,
            interval_s=interval_s,
            because="steady" if batch != count // 2 else "load rose: interval 0.8s",
            window_latency=Latency.of([took_s + 0.1]).as_dict() if batch % 10 == 9 else {},
            account={
                "arrived": answered + aside + 150,
                "answered": answered,
                "quarantined": aside,
                "waiting": 150,
            },
            durations_s={"addBatch": took_s * 0.7, "walCommit": 0.03, "queryPlanning": 0.02},
            phases=made_phases(Latency.of(ages_s - took_s), interval_s, took_s),
            moments={SERVICE: Moments.of([took_s]).as_dict()},
        )
        at_s += max(interval_s, took_s)
        lines.append(line)
    return lines


def made_phases(ages: Latency, since_last_s: float, took_s: float) -> Phases:
    """Phases of a batch that took so long, most of it to map and reduce."""
    called_us, computed_us, published_us = (round(took_s * at * 1e6) for at in (0.1, 0.9, 1.0))
    within = {"map": took_s * 0.5, "reduce": took_s * 0.25}
    time = Timeline(0, called_us, computed_us, published_us, {"offsets": took_s * 0.06}, within)
    found = micro_batch_phases(ages, since_last_s, time)
    return {name: phase.as_dict() for name, phase in found.items()}


def made_line(ages_s: NDArray[np.float64], published_s: float, **fields: Any) -> BatchLine:
    """One line whose records were `ages_s` old when it was published; `fields` replace the rest."""
    latency = Latency.of(ages_s)
    rows = len(ages_s)
    plain: dict[str, Any] = {
        "query": "counts",
        "batch": 0,
        "started_s": published_s - 0.4,
        "published_s": published_s,
        "rows": rows,
        "answers": rows,
        "quarantined": 0,
        "interval_s": 0.5,
        "max_rows": None,
        "readers": 2,
        "because": "",
        "watermark_s": 0.0,
        "start": {},
        "end": {},
        "latency": latency.as_dict(),
        "window_latency": {},
        "account": {"arrived": rows, "answered": rows, "quarantined": 0, "waiting": 0},
        "latency_steps": latency.steps(),
    }
    return BatchLine(**(plain | fields))

"""Real-time mode from Kafka to Kafka: headway's settings against Spark's own, seen from outside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.benches.options import Bar, BenchOptions, progress
from headway.benches.outsider import Watched, watch
from headway.engine.stock.ratios import spread, typical
from headway.engine.stock.realtime import CountJob
from headway.plan.modes import RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

SENTENCE = "Real-time mode from Kafka to Kafka, headway's settings against Spark's own."
RATE = 2_000.0
RATES = (4_000.0, 8_000.0, 16_000.0, 24_000.0)
LIMIT_MS = 50.0
KEYS = 1_000
# Spark's own default. Each checkpoint is a pause; what that costs is measured by `floor`, not here
# by whoever happens to have one while it is measured.
CHECKPOINT_S = 300.0


@dataclass(frozen=True, slots=True)
class Span:
    """How long a job is warmed up, and measured."""

    warm_s: float
    measured_s: float


def run(options: BenchOptions) -> dict[str, Any]:
    """Let stock Spark and headway run the same count in turn, then headway at rising rates."""
    span = Span(8.0, 12.0) if options.quick else Span(20.0, 30.0)
    repeats = options.repeats or (1 if options.quick else 3)
    rates = (8_000.0,) if options.quick else RATES
    maker = Keyed(keys=KEYS, seed=options.seed)
    figures: dict[str, Any] = {}
    jobs = 2 * repeats + (0 if options.quick else 2) + len(rates)
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(jobs, "real-time") as bar,
    ):
        bench = Bench(broker, Path(place), maker, bar)
        figures |= stateful(bench, repeats, span)
        if not options.quick:
            figures["stateless"] = stateless(bench, span)
        figures |= rising(bench, rates, replace(span, measured_s=span.measured_s / 2))
    figures |= {
        "rate_per_s": RATE, "checkpoint_s": CHECKPOINT_S, "warm_up_s": span.warm_s,
        "measured_s": span.measured_s, "repeats": repeats, "target_ratio": 0.3,
    }  # fmt: skip
    options.keep("realtime", figures)
    return figures


class Bench:
    """What the jobs of this benchmark share."""

    def __init__(self, broker: Broker, place: Path, maker: Keyed, bar: Bar) -> None:
        self.broker, self.place, self.maker, self.bar = broker, place, maker, bar
        self.done = 0

    def measure(self, by: Any, rate: float, span: Span, stateful: bool = True) -> Watched:
        """Run one job with new topics, and see from outside how late its answers are."""
        name = f"job-{self.done}"
        self.done += 1
        for topic in (name, f"{name}-out"):
            self.broker.create(topic)
        knobs = RealTime(checkpoint_s=CHECKPOINT_S)
        folder = self.place / name
        folder.mkdir()
        job = CountJob(
            self.broker.address, name, f"{name}-out", folder, by, knobs=knobs, stateful=stateful
        )
        found = watch(job, self.maker, rate, span.warm_s + span.measured_s)
        self.bar.advance(note=f"{by} at {rate:,.0f}/s")
        return found


def stateful(bench: Bench, repeats: int, span: Span) -> dict[str, Any]:
    """The running count, stock and headway in turn."""
    found: dict[str, list[dict[str, float]]] = {"stock": [], "headway": []}
    for _ in range(repeats):
        for by, rows in found.items():
            rows.append(quantiles(bench.measure(by, RATE, span), span))
    stock, ours = ([row["p99_ms"] for row in found[by]] for by in ("stock", "headway"))
    ratios = [b / a for a, b in zip(stock, ours, strict=True)]
    return {
        "stock_p99_ms": typical(stock),
        "p99_ms": typical(ours),
        "ratio": typical(ratios),
        "ratio_spread": spread(ratios),
        "stock": {
            name: typical([row[name] for row in found["stock"]]) for name in found["stock"][0]
        },
        "headway": {
            name: typical([row[name] for row in found["headway"]]) for name in found["headway"][0]
        },
    }


def stateless(bench: Bench, span: Span) -> dict[str, Any]:
    """Records passed on, stock and headway."""
    rows = {
        by: quantiles(bench.measure(by, RATE, span, stateful=False), span)
        for by in ("stock", "headway")
    }
    return {**rows, "ratio": rows["headway"]["p99_ms"] / rows["stock"]["p99_ms"]}


def rising(bench: Bench, rates: tuple[float, ...], span: Span) -> dict[str, Any]:
    """The highest rate that keeps the p99 below the limit, and what the start cost there."""
    by_rate: dict[str, Any] = {}
    highest = 0.0
    for rate in rates:
        watched = bench.measure("headway", rate, span)
        row = quantiles(watched, span) | {"cold_start_s": settled_s(watched)}
        by_rate[f"{rate:.0f}"] = row
        if row["p99_ms"] < LIMIT_MS and row["unanswered"] == 0:
            highest = rate
    return {"by_rate": by_rate, "highest_rate_below_50_ms": highest}


def quantiles(watched: Watched, span: Span) -> dict[str, float]:
    """The figures of the measured part, over every input record."""
    part = watched.late_s[watched.due_s >= span.warm_s]
    answered = part[~np.isnan(part)]
    if not len(answered):
        return {"p50_ms": float("inf"), "p99_ms": float("inf"), "p999_ms": float("inf"),
                "max_ms": float("inf"), "unanswered": float(len(part))}  # fmt: skip
    at = np.quantile(answered, [0.5, 0.99, 0.999, 1.0]) * 1e3
    names = ("p50_ms", "p99_ms", "p999_ms", "max_ms")
    figures = {name: round(float(value), 2) for name, value in zip(names, at, strict=True)}
    return figures | {"unanswered": float(np.isnan(part).sum())}


def settled_s(watched: Watched, bound_s: float = 0.2, window_s: float = 1.0) -> float:
    """After how many seconds the records of a whole second were answered within the bound."""
    seconds = np.floor(watched.due_s / window_s).astype(int)
    for second in range(int(seconds.max()) + 1):
        late: NDArray[np.float64] = watched.late_s[seconds == second]
        if len(late) and not np.isnan(late).any() and float(np.quantile(late, 0.99)) < bound_s:
            return second * window_s
    return float("inf")

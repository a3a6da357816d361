"""Real-time mode from Kafka to Kafka: headway's settings against Spark's own, seen from outside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.benches.options import Bar, BenchOptions, progress
from headway.benches.outside.outsider import Jobs, Watched, late_at, watch
from headway.benches.outside.turns import Turn, Turns, watch_in_turns
from headway.engine.stock.ratios import spread, typical
from headway.engine.stock.realtime import CountJob
from headway.plan.modes import RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

SENTENCE = "Real-time mode from Kafka to Kafka, headway's settings against Spark's own."
RATE = 2_000.0
RATES = (8_000.0, 16_000.0, 32_000.0, 64_000.0)
LIMIT_MS = 50.0
KEYS = 1_000
# None while it is measured: each is a pause, and what that costs is measured by `floor`, not here
# by whoever happens to have one.
CHECKPOINT_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Span:
    """How long a job at one of the rising rates is warmed up, and measured."""

    warm_s: float
    measured_s: float


def run(options: BenchOptions) -> dict[str, Any]:
    """Let stock Spark and headway run the same count in turn, then headway at rising rates."""
    repeats = options.repeats or (1 if options.quick else 3)
    turns = Turns(15.0, 2.0, 12.0, 1) if options.quick else Turns(60.0, 4.0, 30.0, repeats)
    span = Span(8.0, 12.0) if options.quick else Span(20.0, 15.0)
    rates = (8_000.0,) if options.quick else RATES
    maker = Keyed(keys=KEYS, seed=options.seed)
    figures: dict[str, Any] = {}
    shorter = replace(turns, warm_s=turns.warm_s / 2, repeats=1)
    jobs = len(turns.of(2)) + (0 if options.quick else len(shorter.of(2))) + len(rates)
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(jobs, "real-time") as bar,
    ):
        bench = Bench(Jobs(broker, Path(place)), maker, bar)
        figures |= against_stock(bench, turns)
        if not options.quick:
            figures["stateless"] = against_stock(bench, shorter, stateful=False)
        figures |= rising(bench, rates, span)
    figures |= {
        "rate_per_s": RATE, "checkpoint_s": CHECKPOINT_S, "repeats": repeats, "target_ratio": 0.3,
        "warm_up_s": turns.warm_s, "measured_s": turns.measured_s,
        "warm_up_of_each_rate_s": span.warm_s, "measured_of_each_rate_s": span.measured_s,
    }  # fmt: skip
    options.keep("realtime", figures)
    return figures


@dataclass(frozen=True, slots=True)
class Bench:
    """What the jobs of this benchmark share."""

    jobs: Jobs
    maker: Keyed
    bar: Bar

    def job(self, by: Any, stateful: bool = True) -> CountJob:
        """A job without a checkpoint."""
        return self.jobs.make(by=by, knobs=RealTime(checkpoint_s=CHECKPOINT_S), stateful=stateful)


def against_stock(bench: Bench, turns: Turns, stateful: bool = True) -> dict[str, Any]:
    """The running count, or records passed on: stock and headway in turns."""
    jobs = [bench.job("stock", stateful), bench.job("headway", stateful)]

    def told(turn: Turn) -> None:
        warming = "" if turn.measured_s else "warming up "
        bench.bar.advance(note=f"{warming}{jobs[turn.who].by} at {RATE:,.0f}/s")

    found = watch_in_turns(jobs, bench.maker, RATE, turns, told)
    stock, ours = ([quantiles(part) for part in parts] for parts in found)
    ratios = [b["p99_ms"] / a["p99_ms"] for a, b in zip(stock, ours, strict=True)]
    return {
        "stock_p99_ms": typical([row["p99_ms"] for row in stock]),
        "p99_ms": typical([row["p99_ms"] for row in ours]),
        "ratio": typical(ratios),
        "ratio_spread": spread(ratios),
        "stock": {name: typical([row[name] for row in stock]) for name in stock[0]},
        "headway": {name: typical([row[name] for row in ours]) for name in ours[0]},
    }


def rising(bench: Bench, rates: tuple[float, ...], span: Span) -> dict[str, Any]:
    """The highest rate that keeps the p99 below the limit, and what the start cost there."""
    by_rate: dict[str, Any] = {}
    highest = 0.0
    for rate in rates:
        watched = watch(bench.job("headway"), bench.maker, rate, span.warm_s + span.measured_s)
        bench.bar.advance(note=f"headway at {rate:,.0f}/s")
        part = watched.late_s[watched.due_s >= span.warm_s]
        row = quantiles(part) | {"cold_start_s": settled_s(watched)}
        by_rate[f"{rate:.0f}"] = row
        if row["p99_ms"] < LIMIT_MS and row["unanswered"] == 0:
            highest = rate
    return {"by_rate": by_rate, "highest_rate_below_50_ms": highest}


def quantiles(part: NDArray[np.float64]) -> dict[str, float]:
    """The figures of a measured part, over every input record."""
    at = late_at(part, (0.5, 0.99, 0.999, 1.0)) * 1e3
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

"""Whether the phases add up: their sum against the latency that a consumer outside measures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from headway.benches.options import BenchOptions, progress
from headway.benches.outsider import Watched, watch
from headway.engine.stock.ratios import typical
from headway.engine.stock.realtime import CountJob
from headway.keep.pacing import Pace
from headway.measure.batches import BatchLine, BatchLog
from headway.measure.phases import mean_phases, unexplained_share
from headway.measure.summary import latency_of, merged
from headway.plan.modes import MODES, Mode, RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

SENTENCE = "The sum of the phases against the latency that a consumer outside Spark measures."
RATES = (500.0, 2_000.0, 8_000.0)
KEYS = 1_000
CHECKPOINT_S = 10.0


@dataclass(frozen=True, slots=True)
class Case:
    """A mode at a rate, what was seen outside, and what the run says of itself."""

    mode: Mode
    rate: float
    watched: Watched
    lines: list[BatchLine]


def run(options: BenchOptions) -> dict[str, Any]:
    """Run a count in both modes at each rate; once more without phases, for what they cost."""
    rates = (1_000.0,) if options.quick else RATES
    seconds, warm_s = (14.0, 8.0) if options.quick else (45.0, 20.0)
    rows: list[dict[str, Any]] = []
    costs: list[float] = []
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(len(MODES) * (len(rates) + 1), "phases") as bar,
    ):
        bench = Bench(broker, Path(place), seconds)
        for mode in MODES:
            for rate in rates:
                case = bench.measure(mode, rate)
                rows.append(figures_of(case, warm_s))
                bar.advance(note=f"{mode} at {rate:,.0f}/s")
            bare = bench.measure(mode, rate, phases=False)
            costs.append(case.watched.cpu_s / bare.watched.cpu_s - 1)
            bar.advance(note=f"{mode} without")
    figures: dict[str, Any] = {
        "sum_error_mean": typical([row["sum_error_mean"] for row in rows]),
        "sum_error_p50": typical([row["sum_error_p50"] for row in rows]),
        "sum_error_p99": typical([row["sum_error_p99"] for row in rows]),
        "unexplained_share": max(row["unexplained_share"] for row in rows),
        "overhead": max(costs),
        "overhead_by_mode": dict(zip(MODES, costs, strict=True)),
        "cases": rows,
        "measured_s": seconds - warm_s,
        "target_error": 0.05,
        "target_overhead": 0.03,
    }
    options.keep("phases", figures)
    return figures


class Bench:
    """Where the jobs of this benchmark run, and for how long."""

    def __init__(self, broker: Broker, place: Path, seconds: float) -> None:
        self.broker, self.place, self.seconds = broker, place, seconds

    def measure(self, mode: Mode, rate: float, phases: bool = True) -> Case:
        """Run one job."""
        folder = self.place / f"{mode}-{rate:.0f}-{phases}"
        folder.mkdir()
        for topic in (folder.name, f"{folder.name}-out"):
            self.broker.create(topic)
        job = CountJob(
            self.broker.address, folder.name, f"{folder.name}-out", folder, "headway", mode,
            RealTime(checkpoint_s=CHECKPOINT_S), Pace(interval_s=0.25), phases=phases,
        )  # fmt: skip
        watched = watch(job, Keyed(keys=KEYS), rate, self.seconds)
        return Case(mode, rate, watched, list(BatchLog(folder / "run" / "batches.jsonl").lines()))


def figures_of(case: Case, warm_s: float) -> dict[str, Any]:
    """How far what the run says of itself is from what was seen outside."""
    from_s = case.watched.began_us / 1e6 + warm_s
    lines = [line for line in case.lines if line.started_s >= from_s and line.rows]
    inside = merged(latency_of(line) for line in lines)
    upto_s = max((line.published_s for line in lines), default=from_s) - case.watched.began_us / 1e6
    due = case.watched.due_s
    outside = case.watched.late_s[(due >= warm_s) & (due <= upto_s)]
    outside = outside[~np.isnan(outside)]
    means = mean_phases((line.rows, line.phases) for line in lines)
    whole_s = sum(means.values())
    return {
        "mode": case.mode,
        "rate": case.rate,
        "outside_ms": [round(float(v) * 1e3, 2) for v in (
            outside.mean(), np.quantile(outside, 0.5), np.quantile(outside, 0.99))],
        "inside_ms": [round(v * 1e3, 2) for v in (
            whole_s, inside.quantile(0.5), inside.quantile(0.99))],
        "sum_error_mean": error(whole_s, float(outside.mean())),
        "sum_error_p50": error(inside.quantile(0.5), float(np.quantile(outside, 0.5))),
        "sum_error_p99": error(inside.quantile(0.99), float(np.quantile(outside, 0.99))),
        "unexplained_share": round(unexplained_share(means), 4),
        "phases_ms": {name: round(mean * 1e3, 3) for name, mean in means.items()},
    }  # fmt: skip


def error(inside_s: float, outside_s: float) -> float:
    """By which share of the outer measure the inner one is off."""
    return round(abs(inside_s - outside_s) / outside_s, 4)

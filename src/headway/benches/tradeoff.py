"""Rate against latency of both modes up to saturation: the two ends of one trade-off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from headway.benches.options import BenchOptions, progress
from headway.benches.outside.outsider import Jobs, Watched, watch
from headway.dashboard.draw.loglog import Curve, draw_curves
from headway.keep.pacing import Pace
from headway.plan.modes import MODES, Mode, RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

SENTENCE = "Rate against p50 and p99 of both modes on three workloads, up to saturation."
RATES = (1_000.0, 4_000.0, 16_000.0, 32_000.0, 64_000.0, 120_000.0)
BEHIND_S = 5.0  # a rate is too high when answers fall that far behind


@dataclass(frozen=True, slots=True)
class Workload:
    """Records, and whether they are counted or passed on."""

    maker: Keyed
    stateful: bool


WORKLOADS = {
    "pass_on": Workload(Keyed(keys=1_000), stateful=False),
    "count": Workload(Keyed(keys=1_000), stateful=True),
    "count_skewed": Workload(Keyed(keys=100_000, exponent=1.0), stateful=True),
}


@dataclass(frozen=True, slots=True)
class Stairs:
    """Rates that rise step by step while one job runs; the first part of a step is warm-up."""

    rates: tuple[float, ...]
    step_s: float
    warm_s: float

    @property
    def lengths_s(self) -> list[float]:
        """How long each step takes; the first one twice as long as the others."""
        return [self.step_s * (2 if n == 0 else 1) for n in range(len(self.rates))]

    @property
    def schedule(self) -> list[tuple[str, float]]:
        """The rates as a feed takes them."""
        return [(f"{s:g}s", rate) for s, rate in zip(self.lengths_s, self.rates, strict=True)]

    @property
    def seconds(self) -> float:
        """How long the whole takes."""
        return sum(self.lengths_s)

    def part(self, place: int) -> tuple[float, float]:
        """From when to when a step is measured."""
        ends = np.cumsum(self.lengths_s)
        return float(ends[place] - self.step_s + self.warm_s), float(ends[place])


def run(options: BenchOptions) -> dict[str, Any]:
    """Climb the stairs with each workload in each mode, every input record measured outside."""
    stairs = Stairs((1_000.0, 8_000.0), 6.0, 2.0) if options.quick else Stairs(RATES, 15.0, 4.0)
    chosen = {"count": WORKLOADS["count"]} if options.quick else WORKLOADS
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(len(chosen) * len(MODES), "rates") as bar,
    ):
        jobs = Jobs(broker, Path(place))
        for name, workload in chosen.items():
            for mode in MODES:
                rows = climb(jobs, workload, mode, stairs)
                found.setdefault(name, {})[mode] = rows
                bar.advance(note=f"{name}, {mode}")
    figures: dict[str, Any] = {"workloads": found, "highest_rate": highest(found)}
    figures |= {"step_s": stairs.step_s, "warm_up_s_per_step": stairs.warm_s}
    options.keep("tradeoff", figures)
    (options.report / "tradeoff.svg").write_text(plot(found))
    Console(stderr=True).print(table_of(found))
    return figures


def climb(jobs: Jobs, workload: Workload, mode: Mode, stairs: Stairs) -> list[dict[str, float]]:
    """One job under rates that rise."""
    job = jobs.make(
        mode=mode,
        knobs=RealTime(checkpoint_s=60.0),
        pace=Pace(interval_s=0.25),
        stateful=workload.stateful,
    )
    watched = watch(job, workload.maker, stairs.schedule, stairs.seconds)
    return steps_of(watched, stairs)


def steps_of(watched: Watched, stairs: Stairs) -> list[dict[str, float]]:
    """The figures of each step up to the first that was too much."""
    rows = []
    for place, rate in enumerate(stairs.rates):
        begun, ended = stairs.part(place)
        part = watched.late_s[(watched.due_s >= begun) & (watched.due_s < ended)]
        answered = part[~np.isnan(part)]
        if not len(answered) or len(answered) < len(part) * 0.99:
            break
        p50, p99 = (round(float(q), 4) for q in np.quantile(answered, [0.5, 0.99]))
        rows.append(
            {"rate": rate, "p50_s": p50, "p99_s": p99, "max_s": round(float(answered.max()), 3)}
        )
        if p50 > BEHIND_S:
            break
    return rows


def highest(found: dict[str, dict[str, list[dict[str, float]]]]) -> dict[str, Any]:
    """For each workload and mode the highest rate that keeps some limits on the p99."""
    limits = {"50_ms": 0.05, "1_s": 1.0, "5_s": 5.0}
    return {
        name: {
            mode: {
                limit: max((row["rate"] for row in rows if row["p99_s"] <= most), default=0.0)
                for limit, most in limits.items()
            }
            for mode, rows in modes.items()
        }
        for name, modes in found.items()
    }


def plot(found: dict[str, dict[str, list[dict[str, float]]]]) -> str:
    """The p99 over the rate, a curve for each workload and mode."""
    curves = []
    for name, modes in found.items():
        for mode, rows in modes.items():
            points = tuple((row["rate"], max(row["p99_s"], 1e-4)) for row in rows)
            curves.append(Curve(f"{name}, {mode}", points, dashed=mode == "micro-batch"))
    drawn: Sequence[Curve] = [curve for curve in curves if curve.points]
    return draw_curves(drawn, "records per second", "p99", lambda s: f"{s * 1e3:g} ms")


def table_of(found: dict[str, dict[str, list[dict[str, float]]]]) -> Table:
    """Every step as a row."""
    table = Table("workload", "mode", "records/s", "p50", "p99", "max")
    for name, modes in found.items():
        for mode, rows in modes.items():
            for row in rows:
                cells = (f"{row[c] * 1e3:,.0f} ms" for c in ("p50_s", "p99_s", "max_s"))
                table.add_row(name, mode, f"{row['rate']:,.0f}", *cells)
    return table

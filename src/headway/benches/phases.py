"""Whether the phases add up: their sum against the latency that a consumer outside measures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headway.benches.options import Bar, BenchOptions, progress
from headway.benches.outside.carried import Look, Looks, carried_side_by_side
from headway.benches.outside.outsider import Jobs, Watched, lines_of, watch
from headway.engine.stock.ratios import spread, typical, uncertainty
from headway.engine.stock.realtime import CountJob
from headway.errors import RunError
from headway.flow.rates import parse_rate
from headway.keep.pacing import Pace
from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.phases import mean_phases, unexplained_share
from headway.measure.summary import latency_from_figures, latency_of, merged
from headway.plan.modes import MODES, Mode, RealTime
from headway.testing.broker import Broker
from headway.testing.outside import Seen, answered_us
from headway.workloads.makers.keyed import Keyed

SENTENCE = "The sum of the phases against the latency that a consumer outside Spark measures."
Work = Literal["count", "windowed count"]
WORKS: tuple[Work, ...] = ("count", "windowed count")
RATES = (500.0, 2_000.0, 8_000.0)
WINDOW_S = 2
KEYS = 1_000
FULL_RATE = 100_000.0  # more than either of two jobs at once carries
FAR_S = 900.0  # to the first checkpoint: longer than it is looked at
MAX_ROWS = 40_000  # of a batch, which would grow for ever


@dataclass(frozen=True, slots=True)
class Span:
    """How long a job runs, how much of that is warm-up, and how often there is a checkpoint."""

    seconds: float
    warm_s: float
    checkpoint_s: float


@dataclass(frozen=True, slots=True)
class Case:
    """A workload in a mode at a rate, what was seen outside, and what the run says of itself."""

    work: Work
    mode: Mode
    rate: float
    watched: Watched
    lines: list[BatchLine]


def run(options: BenchOptions) -> dict[str, Any]:
    """Run both counts in both modes at each rate; and without phases, for what they cost."""
    rates = (1_000.0,) if options.quick else RATES
    works = WORKS[:1] if options.quick else WORKS
    looks = Looks(8.0, 4.0, 3) if options.quick else Looks(40.0, 6.0, options.repeats or 15)
    modes = MODES[1:] if options.quick else MODES  # in which the cost is measured
    span = Span(13.0, 6.0, 3.0) if options.quick else Span(22.0, 11.0, 5.0)
    jobs = len(works) * len(MODES) * len(rates) + len(modes)
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(jobs, "phases") as bar,
    ):
        bench = Bench(Jobs(broker, Path(place)), span, bar)
        cases = [
            bench.measure(work, mode, rate) for work, mode, rate in product(works, MODES, rates)
        ]
        costs = {mode: bench.overhead(mode, looks) for mode in modes}
    rows = [figures_of(case, span) for case in cases]
    adding = [row for row in rows if "sum_error_mean" in row]
    if not adding:
        raise RunError("no batch ended after the warm-up; this machine is too slow, or too busy")
    figures: dict[str, Any] = {
        **{
            name: typical([row[name] for row in adding])
            for name in ("sum_error_mean", "sum_error_p50", "sum_error_p99")
        },
        "unexplained_share": max(row["unexplained_share"] for row in adding),
        **told_costs(costs),
        "cases": rows,
        "warm_up_s": span.warm_s,
        "measured_s": span.seconds - span.warm_s,
        "overhead_rate": FULL_RATE,
        "overhead_warm_up_s": looks.warm_s,
        "target_error": 0.05,
        "target_overhead": 0.03,
    }
    options.keep("phases", figures)
    return figures


@dataclass(frozen=True, slots=True)
class Overhead:
    """What the meter costs, look by look: the share of throughput lost, of processor time added.

    A look is as noisy as the host is: it is all looks together that tell.
    """

    metered: list[Look]
    bare: list[Look]

    @property
    def lost_in_all(self) -> float:
        return lost_by(self.metered, self.bare)

    @property
    def added_in_all(self) -> float:
        return added_by(self.metered, self.bare)

    @property
    def lost(self) -> list[float]:
        pairs = zip(self.metered, self.bare, strict=True)
        return [lost_by([one], [other]) for one, other in pairs]

    @property
    def added(self) -> list[float]:
        pairs = zip(self.metered, self.bare, strict=True)
        return [added_by([one], [other]) for one, other in pairs]


def lost_by(metered: list[Look], bare: list[Look]) -> float:
    """The share of throughput that is lost, over all looks together."""
    rates = [
        sum(look.done for look in x) / sum(look.seconds for look in x) for x in (metered, bare)
    ]
    return round(1 - rates[0] / rates[1], 4)


def added_by(metered: list[Look], bare: list[Look]) -> float:
    """By which share a record takes more processor time, over all looks together."""
    costs = [sum(look.cpu_s for look in x) / sum(look.done for look in x) for x in (metered, bare)]
    return round(costs[0] / costs[1] - 1, 4)


def told_costs(costs: dict[Mode, Overhead]) -> dict[str, Any]:
    """What the meter costs in each mode: throughput lost, and more processor time for a record."""
    return {
        "overhead": max(one.lost_in_all for one in costs.values()),
        "overhead_by_mode": {mode: one.lost_in_all for mode, one in costs.items()},
        "overhead_error": {mode: uncertainty(one.lost) for mode, one in costs.items()},
        "overhead_spread": {mode: spread(one.lost) for mode, one in costs.items()},
        "overhead_processor_by_mode": {mode: one.added_in_all for mode, one in costs.items()},
        "overhead_processor_spread": {mode: spread(one.added) for mode, one in costs.items()},
    }


class Bench:
    """Where the jobs of this benchmark run, and for how long."""

    def __init__(self, jobs: Jobs, span: Span, bar: Bar) -> None:
        self.jobs, self.span, self.bar = jobs, span, bar

    def job(self, work: Work, mode: Mode) -> CountJob:
        """One of both counts in a mode."""
        return self.jobs.make(
            mode=mode,
            knobs=RealTime(checkpoint_s=self.span.checkpoint_s),
            pace=Pace(interval_s=0.25),
            window=None if work == "count" else f"{WINDOW_S}s",
        )

    def measure(self, work: Work, mode: Mode, rate: float) -> Case:
        """Run one job."""
        job = self.job(work, mode)
        watched = watch(job, Keyed(keys=KEYS), rate, self.span.seconds)
        self.bar.advance(note=f"{work}, {mode} at {rate:,.0f}/s")
        return Case(work, mode, rate, watched, lines_of(job))

    def overhead(self, mode: Mode, looks: Looks) -> Overhead:
        """By how much a count with phases carries less than one without.

        And how much more processor time a record takes there, by which a job is bound whose broker
        and producers are elsewhere. There is no checkpoint
        meanwhile, whose pause one job would have more often than the other.
        """
        pace = Pace(interval_s=0.1, max_rows=MAX_ROWS) if mode == "micro-batch" else Pace()
        knobs = RealTime(checkpoint_s=FAR_S)
        jobs = [
            self.jobs.make(mode=mode, knobs=knobs, pace=pace, phases=phases)
            for phases in (True, False)
        ]
        metered, bare = carried_side_by_side(jobs, Keyed(keys=KEYS), FULL_RATE, looks)
        self.bar.advance(note=f"{mode} with phases and without")
        return Overhead(metered, bare)


def figures_of(case: Case, span: Span) -> dict[str, Any]:
    """How far what the run says of itself is from what was seen outside, of the same records."""
    from_s = case.watched.began_us / 1e6 + span.warm_s
    lines = [line for line in case.lines if line.started_s >= from_s and line.rows]
    about = {"work": case.work, "mode": case.mode, "rate": case.rate, "batches": len(lines)}
    if not lines:
        return about
    if case.work == "windowed count" and case.mode == "micro-batch":
        return about | windows_apart(lines, case.watched.seen)
    first, last = records_of(lines)
    outside = case_latencies(case)[first:last]
    outside = outside[~np.isnan(outside)]
    means = mean_phases((line.rows, line.phases) for line in lines)
    inside = merged(latency_of(line) for line in lines)
    return about | {
        **apart(inside, outside, sum(means.values())),
        "unexplained_share": round(unexplained_share(means), 4),
        "phases_ms": {name: round(mean * 1e3, 3) for name, mean in means.items()},
    }


def records_of(lines: list[BatchLine]) -> tuple[int, int]:
    """The first record that batches hold, and the one after their last: offsets count from 0."""
    starts = [position.get("0", 0) for line in lines for position in line.start.values()]
    ends = [position["0"] for line in lines for position in line.end.values()]
    return min(starts, default=0), max(ends)


def case_latencies(case: Case) -> NDArray[np.float64]:
    """How late the answer of each record was, by what was seen outside."""
    if case.work == "count":
        return case.watched.late_s
    count = len(case.watched.due_s)
    keys = Keyed(keys=KEYS).make(0, count).column("key").to_pylist()
    due_us = case.watched.began_us + parse_rate(case.rate).due_us(0, count)
    size_us = WINDOW_S * 1_000_000
    ends = ((due_us // 1_000 * 1_000 - 1) // size_us + 1) * size_us  # open at their start
    windows = np.array([f"{end}|{key}" for end, key in zip(ends, keys, strict=True)], dtype=object)
    seen = case.watched.seen
    told = Seen(np.array([by_micros(key) for key in seen.keys], object), seen.counts, seen.at_us)
    answered = answered_us(windows, told).astype(np.float64)
    answered[answered < 0] = np.nan
    return np.asarray((answered - due_us) / 1e6)


def by_micros(key: str) -> str:
    """The key of a window's answer with its end in microseconds."""
    end, _, name = key.partition("|")
    return f"{round(datetime.fromisoformat(end).timestamp() * 1e6)}|{name}"


def windows_apart(lines: list[BatchLine], seen: Seen) -> dict[str, Any]:
    """Micro-batch tells a window when it has closed: how late that was, inside and outside."""
    inside = merged(latency_from_figures(line.window_latency) for line in lines)
    ends = np.array([int(by_micros(key).partition("|")[0]) for key in seen.keys], dtype=np.int64)
    begun_us, over_us = (line.published_s * 1e6 - 2e5 for line in (lines[0], lines[-1]))
    part = (seen.at_us >= begun_us) & (seen.at_us <= over_us + 5e5)
    outside = (seen.at_us[part] - ends[part]) / 1e6
    if not len(outside) or not inside.count:
        return {}
    found = apart(inside, outside, inside.mean_s)
    return {name.replace("sum_error", "window_error"): value for name, value in found.items()}


def apart(inside: Latency, outside: NDArray[np.float64], mean_s: float) -> dict[str, Any]:
    """Mean, median and p99 as told inside and outside, and how far they are apart."""
    p50, p99 = (float(np.quantile(outside, q)) for q in (0.5, 0.99))
    return {
        "outside_ms": [round(float(v) * 1e3, 2) for v in (outside.mean(), p50, p99)],
        "inside_ms": [
            round(v * 1e3, 2) for v in (mean_s, inside.quantile(0.5), inside.quantile(0.99))
        ],
        "sum_error_mean": error(mean_s, float(outside.mean())),
        "sum_error_p50": error(inside.quantile(0.5), p50),
        "sum_error_p99": error(inside.quantile(0.99), p99),
    }


def error(inside_s: float, outside_s: float) -> float:
    """By which share of the outer measure the inner one is off."""
    return round(abs(inside_s - outside_s) / outside_s, 4)

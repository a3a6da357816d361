"""What a batch and a checkpoint cost when there is next to nothing to do, stock against headway."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headway.benches.options import Bar, BenchOptions, progress
from headway.benches.outside.outsider import Jobs, Watched, watch
from headway.benches.outside.turns import Turn, Turns, watch_in_turns
from headway.engine.stock.ratios import spread
from headway.engine.stock.realtime import CountJob
from headway.keep.pacing import Pace
from headway.plan.modes import Mode, RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

SENTENCE = "The fixed cost of a stateful micro-batch, and the pause at a real-time checkpoint."
# In real-time mode stock Spark tells no latency, so headway is measured without its meter and with.
By = Literal["stock", "headway", "metered"]
WHO: dict[Mode, tuple[By, ...]] = {
    "micro-batch": ("stock", "headway"),
    "real-time": ("stock", "headway", "metered"),
}
WARM_RATE = 5.0  # records per second while a job warms up: about a batch for each
LONE_RATE = 0.5  # then: each finds an idle query, and has a batch of its own
BUSY_RATE = 2_000.0
CHECKPOINT_S = 1.0  # a fifth of what Spark allows unasked: five times as many pauses to see
# From one checkpoint to the next: the interval and its pause. Two are further apart than this...
LEAST_S = 0.6
MOST_S = 1.6  # ...and closer than this.
# How long a job of batches is fed, and how much of that is warm-up.
SPAN_S, QUICK_S = (28.0, 10.0), (13.0, 8.0)
QUICK_TURNS = Turns(warm_s=10.0, settle_s=3.0, measured_s=5.0, repeats=1)
# Spark plans anew at each checkpoint, and Java is quick at it once it has done so many times: after
# a minute, at one a second, as after five at the interval that Spark allows unasked.
WARM_S = 80.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What each batch or pause of a job cost, and how Spark says its batches spent their time."""

    each_ms: tuple[float, ...]
    by_phase_ms: dict[str, float]

    @property
    def ms(self) -> float:
        """What one of them costs."""
        return float(np.median(self.each_ms))


def run(options: BenchOptions) -> dict[str, Any]:
    """Measure both costs by turns, each job in a process of its own, seen from outside."""
    repeats = options.repeats or (1 if options.quick else 3)
    turns = QUICK_TURNS if options.quick else Turns(WARM_S, 3.0, 10.0, 2 * repeats)
    those = WHO["real-time"][: 2 if options.quick else 3]
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(2 * repeats + len(turns.of(len(those))), "fixed costs") as bar,
    ):
        bench = Bench(Jobs(broker, Path(place)), bar)
        batches = [
            {by: bench.batches(by, options.quick) for by in WHO["micro-batch"]}
            for _ in range(repeats)
        ]
        pauses = bench.pauses(those, turns)
    figures = figures_of(batches, "batch", "headway") | figures_of(pauses, "boundary", "headway")
    if "metered" in those:
        figures |= figures_of(pauses, "boundary_metered", "metered")
    figures |= {
        "repeats": repeats, "checkpoint_s": CHECKPOINT_S, "target_ratio": 0.6,
        "warm_up_s": turns.warm_s, "measured_s": turns.measured_s, "turns": turns.repeats,
    }  # fmt: skip
    options.keep("floor", figures)
    return figures


class Bench:
    """What the jobs of this benchmark share."""

    def __init__(self, jobs: Jobs, bar: Bar) -> None:
        self._jobs, self._bar = jobs, bar

    def _job(self, mode: Mode, by: By) -> CountJob:
        """The count in a mode, metered only where that is what is measured."""
        return self._jobs.make(
            by="stock" if by == "stock" else "headway",
            mode=mode,
            knobs=RealTime(checkpoint_s=CHECKPOINT_S),
            pace=Pace(interval_s=0.0),
            phases=mode == "micro-batch" or by == "metered",
        )

    def batches(self, by: By, quick: bool) -> Cost:
        """What batches of a single record cost one job."""
        job = self._job("micro-batch", by)
        seconds, warm_s = QUICK_S if quick else SPAN_S
        steps = [(f"{warm_s - 2:g}s", WARM_RATE), (f"{seconds - warm_s + 2:g}s", LONE_RATE)]
        watched = watch(job, Keyed(keys=100), steps, seconds)
        each_ms = tuple(float(one) * 1e3 for one in batches_s(watched, warm_s))
        cost = Cost(each_ms, phases_of(job.folder))
        self._bar.advance(note=f"a batch of {by}: {cost.ms:.0f} ms")
        return cost

    def pauses(self, those: Sequence[By], turns: Turns) -> list[dict[By, Cost]]:
        """What the checkpoints of each stretch cost, while the jobs have the host in turns."""
        jobs = [self._job("real-time", by) for by in those]

        def told(turn: Turn) -> None:
            doing = "checkpoints of" if turn.measured_s else "warming up"
            self._bar.advance(note=f"{doing} {those[turn.who]}")

        found = watch_in_turns(jobs, Keyed(keys=100), BUSY_RATE, turns, told)
        phases = [phases_of(job.folder) for job in jobs]
        return [
            {by: Cost(pauses_ms(found[n][stretch]), phases[n]) for n, by in enumerate(those)}
            for stretch in range(turns.repeats)
        ]


def batches_s(watched: Watched, warm_s: float) -> Sequence[float]:
    """The latency of records that find an idle query: one batch, and nothing else."""
    late: list[float] = watched.late_s[watched.due_s >= warm_s].tolist()
    return [one for one in late if np.isfinite(one)]


def pauses_ms(late_s: NDArray[np.float64], rate: float = BUSY_RATE) -> tuple[float, ...]:
    """The worst latency at each checkpoint of a stretch, in which records came at a steady rate.

    >>> late_s = np.zeros(6_800)
    >>> late_s[[1_000, 1_100, 5_000]] = 0.3, 0.2, 0.4
    >>> pauses_ms(late_s)
    (400.0, 300.0)
    """
    left, found = np.nan_to_num(late_s, nan=0.0), []
    for _ in range(int(len(late_s) / rate / MOST_S)):
        worst = int(left.argmax())
        found.append(float(left[worst]) * 1e3)
        near = int(LEAST_S * rate)
        left[max(0, worst - near) : worst + near] = 0.0
    return tuple(found)


def phases_of(folder: Path) -> dict[str, float]:
    """The median of each duration that Spark reports, in milliseconds."""
    batches = json.loads((folder / "durations.json").read_text())[3:]
    names = sorted({name for batch in batches for name in batch})
    return {
        name: round(float(np.median([batch.get(name, 0.0) for batch in batches])) * 1e3, 1)
        for name in names
    }


def figures_of(rounds: Sequence[dict[By, Cost]], what: str, by: By) -> dict[str, Any]:
    """The ratio of one cost over all rounds, how it varies between them, and where it goes."""
    stock, ours = [one["stock"] for one in rounds], [one[by] for one in rounds]
    ratios = [b.ms / a.ms for a, b in zip(stock, ours, strict=True)]
    stock_ms, ours_ms = (
        float(np.median([ms for c in these for ms in c.each_ms])) for these in (stock, ours)
    )
    return {
        f"{what}_ratio": round(ours_ms / stock_ms, 3),
        f"{what}_ratio_spread": spread(ratios),
        f"{what}_ms": {"stock": round(stock_ms), "headway": round(ours_ms)},
        f"{what}_phases_ms": {"stock": stock[-1].by_phase_ms, "headway": ours[-1].by_phase_ms},
    }

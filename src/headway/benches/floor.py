"""What a batch and a checkpoint cost when there is next to nothing to do, stock against headway."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from headway.benches.options import Bar, BenchOptions, progress
from headway.benches.outsider import Watched, watch
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
CHECKPOINT_S = 2.5  # half of what Spark allows unasked: twice as many pauses to see
# How long a job is fed, and how much of that is warm-up.
SPANS_S: dict[Mode, tuple[float, float]] = {"micro-batch": (28.0, 10.0), "real-time": (35.0, 15.0)}
QUICK_S = (13.0, 8.0)


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
    """Measure both costs in turn, each job in a process of its own, seen from outside."""
    repeats = options.repeats or (1 if options.quick else 3)
    found: dict[tuple[Mode, By], list[Cost]] = {}
    jobs = list(jobs_of(repeats, options.quick))
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(len(jobs), "fixed costs") as bar,
    ):
        for number, (mode, by) in enumerate(jobs):
            name = f"{mode}-{by}-{number}"
            cost = measure(broker, Path(place) / name, mode, by, options.quick)
            found.setdefault((mode, by), []).append(cost)
            shown(bar, name, cost)
    figures = figures_of(found, "micro-batch", "batch", "headway")
    figures |= figures_of(found, "real-time", "boundary", "headway")
    if not options.quick:
        figures |= figures_of(found, "real-time", "boundary_metered", "metered")
    figures |= {"repeats": repeats, "checkpoint_s": CHECKPOINT_S, "target_ratio": 0.6}
    options.keep("floor", figures)
    return figures


def jobs_of(repeats: int, quick: bool) -> Iterator[tuple[Mode, By]]:
    """All jobs by turns; batches are alike, and every second round of them is enough.

    >>> [by for mode, by in jobs_of(2, quick=True)]
    ['stock', 'headway', 'stock', 'headway', 'stock', 'headway']
    """
    for number in range(repeats):
        for mode, those in WHO.items():
            if mode == "real-time" or number % 2 == 0:
                yield from ((mode, by) for by in those if not (quick and by == "metered"))


def shown(bar: Bar, name: str, cost: Cost) -> None:
    """Say what a job has cost."""
    bar.advance(note=f"{name}: {cost.ms:.0f} ms")


def measure(broker: Broker, folder: Path, mode: Mode, by: By, quick: bool) -> Cost:
    """Run one job, and find what its fixed cost was."""
    folder.mkdir()
    for topic in (folder.name, f"{folder.name}-out"):
        broker.create(topic)
    job = CountJob(
        broker.address, folder.name, f"{folder.name}-out", folder,
        "stock" if by == "stock" else "headway", mode,
        RealTime(checkpoint_s=CHECKPOINT_S), Pace(interval_s=0.0),
        phases=mode == "micro-batch" or by == "metered",
    )  # fmt: skip
    lone = mode == "micro-batch"
    seconds, warm_s = QUICK_S if quick else SPANS_S[mode]
    steps = [(f"{warm_s - 2:g}s", WARM_RATE), (f"{seconds - warm_s + 2:g}s", LONE_RATE)]
    watched = watch(job, Keyed(keys=100), steps if lone else BUSY_RATE, seconds)
    each_s = batches_s(watched, warm_s) if lone else pauses_s(watched, warm_s)
    return Cost(tuple(float(one) * 1e3 for one in each_s), phases_of(folder))


def batches_s(watched: Watched, warm_s: float) -> Sequence[float]:
    """The latency of records that find an idle query: one batch, and nothing else."""
    late: list[float] = watched.late_s[watched.due_s >= warm_s].tolist()
    return [one for one in late if np.isfinite(one)]


def pauses_s(watched: Watched, warm_s: float) -> Sequence[float]:
    """The worst latency of each checkpoint interval."""
    cycles = np.floor((watched.due_s - warm_s) / CHECKPOINT_S).astype(int)
    late = np.nan_to_num(watched.late_s, nan=0.0)
    return [late[cycles == n].max() for n in range(int(cycles.max())) if (cycles == n).any()]


def phases_of(folder: Path) -> dict[str, float]:
    """The median of each duration that Spark reports, in milliseconds."""
    batches = json.loads((folder / "durations.json").read_text())[3:]
    names = sorted({name for batch in batches for name in batch})
    return {
        name: round(float(np.median([batch.get(name, 0.0) for batch in batches])) * 1e3, 1)
        for name in names
    }


def figures_of(
    found: dict[tuple[Mode, By], list[Cost]], mode: Mode, what: str, by: By
) -> dict[str, Any]:
    """The ratio of one cost over all rounds, how it varies between them, and where it goes."""
    stock, ours = found[mode, "stock"], found[mode, by]
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

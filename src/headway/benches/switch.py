"""A change of mode under load, and back: how long nothing is answered, what is lost or doubled."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from headway.benches.options import Bar, BenchOptions, progress
from headway.benches.outside.outsider import Jobs, Watched, watch
from headway.clock import SystemClock
from headway.engine.stock.ratios import spread, typical
from headway.keep.pacing import Pace
from headway.plan.modes import MODES, Mode, RealTime
from headway.testing.broker import Broker
from headway.workloads.makers.keyed import Keyed

SENTENCE = "A change from micro-batch to real-time mode and back under load, seen from outside."
RATE = 2_000.0
KEYS = 500
STEADY_S = 12.0  # between two changes
CHECKPOINT_S = 5.0


def run(options: BenchOptions) -> dict[str, Any]:
    """Change the mode of a running count there and back several times, while records come in."""
    changes = (options.times or (1 if options.quick else 4)) * 2
    maker = Keyed(keys=KEYS, seed=options.seed)
    seconds = 15.0 + changes * (STEADY_S + 8.0)
    told: dict[Mode, list[float]] = {mode: [] for mode in MODES}
    with (
        Broker() as broker,
        TemporaryDirectory(prefix="headway-bench-") as place,
        progress(changes, "changes of mode") as bar,
    ):
        job = Jobs(broker, Path(place)).make(
            mode="micro-batch",
            knobs=RealTime(checkpoint_s=CHECKPOINT_S),
            pace=Pace(interval_s=0.25),
        )
        at_us: list[int] = []
        orders = changing(changes, told, at_us, bar)
        watched = watch(job, maker, RATE, seconds, orders)
    figures = figures_of(watched, maker, told, at_us)
    figures |= {"changes": changes, "rate_per_s": RATE, "target_gap_s": 5.0}
    options.keep("switch", figures)
    return figures


def changing(changes: int, told: dict[Mode, list[float]], at_us: list[int], bar: Bar) -> Any:
    """What is done while records come in: one change after another, each with a steady time."""

    def orders(channel: Any, begin_us: int) -> None:
        clock = SystemClock()
        clock.sleep(max(0.0, (begin_us - clock.now_us()) / 1e6) + STEADY_S)
        for number in range(changes):
            mode: Mode = "real-time" if number % 2 == 0 else "micro-batch"
            at_us.append(clock.now_us())
            channel.send((mode, None))
            told[mode].append(float(channel.recv()))
            bar.advance(note=mode)
            clock.sleep(STEADY_S)

    return orders


def figures_of(
    watched: Watched, maker: Keyed, told: dict[Mode, list[float]], at_us: list[int]
) -> dict[str, Any]:
    """The figures by name: gaps as seen from outside, and what the answers add up to."""
    gaps = silences_s(watched, at_us)
    fed = Counter(maker.make(0, len(watched.due_s)).column("key").to_pylist())
    highest: dict[Any, int] = {}
    for key, count in zip(watched.seen.keys, watched.seen.counts, strict=True):
        highest[key] = max(int(count), highest.get(key, 0))
    pairs = Counter(zip(watched.seen.keys.tolist(), watched.seen.counts.tolist(), strict=True))
    return {
        "gap_s": max(gaps),
        "gap_s_typical": typical(gaps),
        "gap_s_spread": spread(gaps),
        "told_gap_s": {mode: typical(found) for mode, found in told.items() if found},
        "lost": sum(max(0, count - highest.get(key, 0)) for key, count in fed.items()),
        "doubled": sum(max(0, count - fed.get(key, 0)) for key, count in highest.items()),
        "answers_repeated": sum(count - 1 for count in pairs.values()),
        "records": len(watched.due_s),
        "worst_latency_s": round(float(np.nanmax(watched.late_s)), 3),
    }


def silences_s(watched: Watched, at_us: list[int]) -> list[float]:
    """The longest time without an answer after each change was asked for."""
    seen = np.sort(watched.seen.at_us)
    found = []
    for number, begun in enumerate(at_us):
        until = at_us[number + 1] if number + 1 < len(at_us) else seen[-1]
        part = seen[(seen >= begun - 1_000_000) & (seen <= until)]
        found.append(round(float(np.diff(part).max()) / 1e6, 3) if len(part) > 1 else float("inf"))
    return found

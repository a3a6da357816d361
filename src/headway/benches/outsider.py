"""A job under load in a process of its own, and how late its answers are, as seen from outside."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.clock import SystemClock
from headway.engine.stock.realtime import CountJob, work
from headway.errors import RunError
from headway.flow.rates import Rate, parse_rate
from headway.flow.topics import RecordMaker
from headway.testing.feeder import Feed, Feeder
from headway.testing.outside import Onlooker, Seen, latencies_s, numbered
from headway.testing.processes import cpu_s

START_S = 120.0
LEAD_S = 2.0  # from the decision to begin to the first record
TAIL_S = 3.0  # after the last record, for its answer to come


@dataclass(frozen=True, slots=True)
class Watched:
    """For each record when it was due, from the beginning, and how late its answer was, or nan."""

    due_s: NDArray[np.float64]
    late_s: NDArray[np.float64]
    seen: Seen
    began_us: int
    cpu_s: float  # of the job, from the first record to the last


def watch(
    job: CountJob,
    maker: RecordMaker,
    rate: Rate,
    seconds: float,
    meanwhile: Callable[[Any, int], None] | None = None,
) -> Watched:
    """Start a job, feed it at a rate for a while, open-loop, and follow its answers.

    `meanwhile` is called with a channel to the job and the instant at which the feed begins.
    """
    clock, starting = SystemClock(), multiprocessing.get_context("spawn")
    count = parse_rate(rate).due_by(seconds) or 0
    ready, stop = starting.Event(), starting.Event()
    here, there = starting.Pipe()
    worker: Any = starting.Process(target=work, args=(job, ready, stop, there))
    key = "key" if job.window is None else "window_end,key"
    onlooker = Onlooker(f"{job.servers}/{job.sink}", key, "n", job.folder / "seen.npz")
    worker.start()
    try:
        if not ready.wait(START_S):
            raise RunError(f"{job.by} did not start within {START_S:g} s")
        begin_us = clock.now_us() + round(2 * LEAD_S * 1e6)
        what = Feed(
            maker, job.source, f"kafka://{job.servers}", rate, count, "key", "1ms", begin_us
        )
        clock.sleep(LEAD_S)
        spent_s = cpu_s(worker.pid)
        with Feeder(what) as feeder:
            if meanwhile is not None:
                meanwhile(here, begin_us)
            feeder.wait(seconds + LEAD_S + START_S)
        spent_s = cpu_s(worker.pid) - spent_s
        clock.sleep(TAIL_S)
        seen = onlooker.seen()
        if worker.exitcode is not None:
            raise RunError(f"{job.by} ended before it was told to, with code {worker.exitcode}")
    finally:
        stop.set()
        worker.join(30)
        worker.kill()
    seen = seen if job.stateful else numbered(seen)
    return Watched(*latencies_s(maker, rate, begin_us, count, seen), seen, begin_us, spent_s)

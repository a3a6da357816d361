"""A job under load in a process of its own, and how late its answers are, as seen from outside."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import TopicPartition
from numpy.typing import NDArray

from headway.clock import SystemClock
from headway.engine.kafka.client import LATEST, offsets_of
from headway.engine.stock.realtime import CountJob, work
from headway.errors import RunError
from headway.flow.rates import Rate, parse_rate
from headway.flow.topics import RecordMaker
from headway.measure.batches import BatchLine, BatchLog
from headway.testing.broker import Broker
from headway.testing.feeder import Feed, Feeder
from headway.testing.outside import Onlooker, Seen, latencies_s, numbered
from headway.testing.processes import cpu_of_threads_s, cpu_s, freeze

START_S = 120.0
LEAD_S = 2.0  # from the decision to begin to the first record
TAIL_S = 3.0  # after the last record, for its answer to come
COMPILERS = "CompilerThre"  # so Linux cuts the name off


@dataclass(frozen=True, slots=True)
class Watched:
    """For each record when it was due, from the beginning, and how late its answer was, or nan."""

    due_s: NDArray[np.float64]
    late_s: NDArray[np.float64]
    seen: Seen
    began_us: int


def late_at(late_s: NDArray[np.float64], shares: Sequence[float]) -> NDArray[np.float64]:
    """How late answers were at some ranks; one that never came is later than any.

    >>> late_at(np.array([1.0, np.nan, 2.0]), [0.5, 0.99]).tolist()
    [2.0, inf]
    >>> late_at(np.array([]), [0.5]).tolist()
    [inf]
    """
    every = np.sort(np.nan_to_num(late_s, nan=np.inf))
    places = [min(len(every) - 1, int(share * len(every))) for share in shares]
    return every[places] if len(every) else np.full(len(shares), np.inf)


@dataclass
class Jobs:
    """Makes jobs between topics of their own, in folders of their own."""

    broker: Broker
    place: Path
    made: int = 0

    def make(self, **how: Any) -> CountJob:
        """The next one; `how` is what else a CountJob is told."""
        name = f"job-{self.made}"
        self.made += 1
        self.broker.create(name, f"{name}-out")
        folder = self.place / name
        folder.mkdir(parents=True)
        return CountJob(self.broker.address, name, f"{name}-out", folder, **how)


def lines_of(job: CountJob) -> list[BatchLine]:
    """What a job by headway has told of its batches so far."""
    return list(BatchLog(job.folder / "run" / "batches.jsonl").lines())


class Stage:
    """A job that runs in a process of its own, and someone outside who follows its answers."""

    def __init__(self, job: CountJob) -> None:
        starting: Any = multiprocessing.get_context("spawn")
        self.job, self._clock = job, SystemClock()
        self._ready, self._stop = starting.Event(), starting.Event()
        self.channel, there = starting.Pipe()
        key = "key" if job.window is None else "window_end,key"
        self._onlooker = Onlooker(f"{job.servers}/{job.sink}", key, "n", job.folder / "seen.npz")
        self._worker: Any = starting.Process(
            target=work, args=(job, self._ready, self._stop, there)
        )
        self._worker.start()
        self._compiling_s: dict[int, float] = {}

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.freeze(False)
        self._stop.set()
        self._worker.join(30)
        self._worker.kill()

    def wait_ready(self) -> None:
        """Wait until the job runs."""
        if not self._ready.wait(START_S):
            raise RunError(f"{self.job.by} did not start within {START_S:g} s")

    def feed(self, maker: RecordMaker, rate: Rate, seconds: float, begin_us: int) -> Feeder:
        """Send it made records at a rate, open-loop, the first one when it is due."""
        count = parse_rate(rate).count_in(seconds)
        at = f"kafka://{self.job.servers}"
        return Feeder(Feed(maker, self.job.source, at, rate, count, "key", "1ms", begin_us))

    def freeze(self, frozen: bool) -> None:
        """Stop the job where it is, so that it costs nothing, or let it go on."""
        freeze(self._worker.pid, frozen)

    def cpu_s(self) -> float:
        """What the job has cost so far, without what Java took to compile it, which ends.

        To be asked about every second: of a compiler that has ended, what it took by then is known.
        """
        self._compiling_s |= cpu_of_threads_s(self._worker.pid, COMPILERS)
        return cpu_s(self._worker.pid) - sum(self._compiling_s.values())

    def answered(self) -> int:
        """How many records it has answered: each by a row, or all of those of a batch together."""
        if self.job.mode == "real-time":
            place = [TopicPartition(self.job.sink, 0)]
            return offsets_of(self.job.servers, LATEST, place)[0]
        return sum(line.rows for line in lines_of(self.job))

    def seen(self) -> Seen:
        """All answers, once the last ones had time to come."""
        self._clock.sleep(TAIL_S)
        found = self._onlooker.seen()
        if self._worker.exitcode is not None:
            code = self._worker.exitcode
            raise RunError(f"{self.job.by} ended before it was told to, with code {code}")
        return found if self.job.stateful else numbered(found)


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
    clock = SystemClock()
    count = parse_rate(rate).count_in(seconds)
    with Stage(job) as stage:
        stage.wait_ready()
        # Half way through a millisecond: Kafka keeps times in whole ones, which are right in the
        # middle then.
        begin_us = (clock.now_us() // 1_000 * 1_000) + 500 + round(2 * LEAD_S * 1e6)
        clock.sleep(LEAD_S)
        with stage.feed(maker, rate, seconds, begin_us) as feeder:
            if meanwhile is not None:
                meanwhile(stage.channel, begin_us)
            feeder.wait(seconds + LEAD_S + START_S)
        seen = stage.seen()
    return Watched(*latencies_s(maker, rate, begin_us, count, seen), seen, begin_us)

"""A job under load in a process of its own, and how late its answers are, as seen from outside."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import TopicPartition
from numpy.typing import NDArray

from headway.clock import Clock, SystemClock
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
CARRIED = 0.95  # the share of what is due by which a job keeps up
GLANCE_S = 1.0  # from one look at Java's compilers to the next: they end when they have no work
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

    def done(self) -> int:
        """How many records it has answered: each by a row, or all of those of a batch together."""
        if self.job.mode == "real-time":
            place = [TopicPartition(self.job.sink, 0)]
            return offsets_of(self.job.servers, LATEST, place)[0]
        return sum(line.rows for line in lines_of(self.job))

    def glance(self) -> tuple[float, float, float]:
        """The time, how many records it has answered by then, and what that has cost."""
        return self._clock.steady_s(), self.done(), self.cpu_s()

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


@dataclass(frozen=True, slots=True)
class Looks:
    """At jobs that run at the same time: how often, after how much warm-up."""

    warm_s: float
    every_s: float
    count: int


@dataclass(frozen=True, slots=True)
class Look:
    """What a job did from one look to the next: records a second, processor time for each."""

    rate_per_s: float
    cpu_s: float


def side_by_side(
    jobs: Sequence[CountJob], maker: RecordMaker, rate: float, looks: Looks
) -> list[list[Look]]:
    """Looks at each of several jobs that read one topic at the same time, at more than they carry.

    What disturbs the host disturbs all of them, and none has to wait for records.
    """
    clock = SystemClock()
    seconds = looks.warm_s + looks.every_s * looks.count + LEAD_S
    with ExitStack() as stack:
        fed = [replace(job, source=jobs[0].source) for job in jobs]
        stages = [stack.enter_context(Stage(job)) for job in fed]
        for stage in stages:
            stage.wait_ready()
        begin_us = clock.now_us() + round(2 * LEAD_S * 1e6)
        stack.enter_context(stages[0].feed(maker, rate, seconds, begin_us))
        clock.sleep(2 * LEAD_S + looks.warm_s)
        found = look_at(stages, looks, clock)
        due = rate * (clock.now_us() - begin_us) / 1e6
        if max(stage.done() for stage in stages) > due * CARRIED:
            raise RunError(f"a job carries {rate:,.0f}/s, so nothing is known of what it can carry")
    return found


def look_at(stages: Sequence[Stage], looks: Looks, clock: Clock) -> list[list[Look]]:
    """Looks at each of several jobs, each of them many glances."""
    found: list[list[Look]] = [[] for _ in stages]
    for _ in range(looks.count):
        until_s = clock.steady_s() + looks.every_s
        glances = [[stage.glance() for stage in stages]]
        while (left_s := until_s - clock.steady_s()) > 0:
            clock.sleep(min(left_s, GLANCE_S))
            glances.append([stage.glance() for stage in stages])
        for each, seen in zip(found, zip(*glances, strict=True), strict=True):
            at_s, done, spent_s = np.array(seen, dtype=np.float64).T
            if done[-1] == done[0]:
                raise RunError("a job answered nothing within a look; this host is too busy")
            each.append(Look(slope(at_s, done), slope(done, spent_s)))
    return found


def slope(along: NDArray[np.float64], number: NDArray[np.float64]) -> float:
    """By how much a number grows along another one: the steepness of a line through all.

    Through the first and the last alone, a batch that ends just after a look would count in full.

    >>> round(slope(np.array([0.0, 10.0, 20.0]), np.array([1.0, 21.0, 41.0])), 6)
    2.0
    """
    return float(np.polyfit(along, number, 1)[0])

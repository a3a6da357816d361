"""What jobs carry that run at the same time: what disturbs the host disturbs all of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np
import orjson
from confluent_kafka import Producer
from numpy.typing import NDArray

from headway.benches.outside.outsider import Stage, lines_of
from headway.clock import SystemClock
from headway.engine.kafka.client import produce
from headway.engine.stock.realtime import CountJob
from headway.errors import RunError
from headway.flow.topics import RecordMaker

POURED = 50_000  # records that are made, and sent again and again
GLANCE_S = 0.5  # from one to the next: a compiler of Java's ends when it has no work


@dataclass(frozen=True, slots=True)
class Looks:
    """At jobs that run at the same time: how often, how long, after how much warm-up."""

    warm_s: float
    every_s: float
    count: int

    @property
    def seconds(self) -> float:
        """How long they last together."""
        return self.every_s * self.count


@dataclass(frozen=True, slots=True)
class Look:
    """What a job did while it was looked at: how long that was, records done, processor time."""

    seconds: float
    done: float
    cpu_s: float


def carried_side_by_side(
    jobs: Sequence[CountJob], maker: RecordMaker, rate: float, looks: Looks
) -> list[list[Look]]:
    """Looks at each of several jobs that work off the same backlog at the same time.

    `rate` is more than one of them carries beside the other. The backlog of the looks is made while
    they are frozen, so that nobody who makes records takes time from them.
    """
    clock, backlog = SystemClock(), round(rate * looks.seconds)
    with ExitStack() as stack:
        fed = [replace(job, source=jobs[0].source) for job in jobs]
        stages = [stack.enter_context(Stage(job)) for job in fed]
        for stage in stages:
            stage.wait_ready()
        warm_s = clock.steady_s() + looks.warm_s
        pour(fed[0], maker, round(rate * looks.warm_s))
        clock.sleep(max(0.0, warm_s - clock.steady_s()))
        for stage in stages:
            stage.freeze(True)
        pour(fed[0], maker, backlog)
        before = [stage.answered() for stage in stages]
        for stage in stages:
            stage.freeze(False)
        found = look_at(stages, looks)
        if any(s.answered() - n >= backlog for s, n in zip(stages, before, strict=True)):
            raise RunError(f"a job carries {rate:,.0f}/s, so it was left with nothing to do")
    return found


def pour(job: CountJob, maker: RecordMaker, count: int) -> None:
    """Send so many records as fast as the host can: the same ones again and again."""
    values = [orjson.dumps(record) for record in maker.make(0, POURED).to_pylist()]
    producer = Producer({"bootstrap.servers": job.servers, "linger.ms": 20, "log_level": 0})
    for value in islice(cycle(values), count):
        produce(producer, job.source, value)
    producer.flush()


def look_at(stages: Sequence[Stage], looks: Looks) -> list[list[Look]]:
    """What each job does in each look: it is glanced at now and then."""
    clock, glances = SystemClock(), list[list[tuple[float, int, float]]]()
    until_s = clock.steady_s() + looks.seconds
    while clock.steady_s() < until_s:
        glances.append([glance(stage, clock.now_us() / 1e6) for stage in stages])
        clock.sleep(GLANCE_S)
    return [
        looks_of(stage, np.array(seen), looks.count)
        for stage, seen in zip(stages, zip(*glances, strict=True), strict=True)
    ]


def glance(stage: Stage, now_s: float) -> tuple[float, int, float]:
    """The time, the rows that a job has answered by then, and what that has cost.

    Behind the gate answers come by the batch; there its log is read once, in the end.
    """
    return now_s, stage.answered() if stage.job.mode == "real-time" else 0, stage.cpu_s()


def looks_of(stage: Stage, seen: NDArray[np.float64], count: int) -> list[Look]:
    """As many looks as are wanted at a job that was glanced at, all of them equally long.

    A batch is worked off evenly from one publication to the next: else one that ends just after a
    look would count in full.
    """
    at_s, done, cpu_s = seen.T
    if stage.job.mode == "micro-batch":
        lines = lines_of(stage.job)
        rows, ends_s = [line.rows for line in lines], [line.published_s for line in lines]
        known = (at_s >= ends_s[0]) & (at_s <= ends_s[-1])
        at_s, cpu_s = at_s[known], cpu_s[known]
        done = np.interp(at_s, ends_s, np.cumsum(rows))
    edges_s = np.linspace(at_s[0], at_s[-1], count + 1)
    parts = [np.diff(np.interp(edges_s, at_s, each)) for each in (at_s, done, cpu_s)]
    if not all(parts[1] > 0):
        raise RunError("a job answered nothing while it was looked at: this host is too busy")
    return [Look(*map(float, part)) for part in zip(*parts, strict=True)]

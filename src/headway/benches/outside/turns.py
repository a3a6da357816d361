"""Jobs that run side by side and have the host in turns: while one is measured, the rest is frozen.

Each job is started and warmed up once, however often it is measured, so that a JVM is as warm as it
would be in a job that runs for days, and what disturbs the host for a minute disturbs both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.benches.outside.outsider import LEAD_S, START_S, Stage
from headway.clock import SystemClock
from headway.engine.stock.realtime import CountJob
from headway.flow.rates import parse_rate
from headway.flow.topics import RecordMaker
from headway.testing.outside import latencies_s

DRAIN_S = 1.0  # at the end of each stretch, for the last answers to come before it is frozen
IDLE_RATE = 0.1  # records per second for a job that is frozen; none of them is measured
# A job that is frozen longer than Spark waits for a heartbeat, 120 s, dies of it afterwards; so
# jobs are warmed up by turns, too.
WARM_TURN_S = 20.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of time that one job has for itself, and the part of it that counts, if any."""

    who: int
    begin_s: float
    end_s: float
    measured_s: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Turns:
    """How long each job is warmed up, and how its measured stretches alternate."""

    warm_s: float
    settle_s: float  # at the beginning of each stretch, for what has gathered while it was frozen
    measured_s: float
    repeats: int

    def of(self, jobs: int) -> list[Turn]:
        """The turns of so many jobs, one after the other.

        >>> [(t.who, t.begin_s, t.measured_s, t.end_s) for t in Turns(9, 1, 2, 1).of(2)[1:3]]
        [(1, 9.0, None, 18.0), (0, 18.0, (19.0, 21.0), 22.0)]
        >>> [(t.who, t.begin_s) for t in Turns(60, 1, 2, 1).of(2) if t.measured_s is None]
        [(0, 0.0), (1, 20.0), (0, 40.0), (1, 60.0), (0, 80.0), (1, 100.0)]
        """
        rounds = math.ceil(self.warm_s / WARM_TURN_S)
        each_s = self.warm_s / rounds
        found = [Turn(n % jobs, n * each_s, (n + 1) * each_s) for n in range(rounds * jobs)]
        for number in range(self.repeats * jobs):
            now_s = found[-1].end_s
            first_s, last_s = now_s + self.settle_s, now_s + self.settle_s + self.measured_s
            found.append(Turn(number % jobs, now_s, last_s + DRAIN_S, (first_s, last_s)))
        return found


def watch_in_turns(
    jobs: Sequence[CountJob],
    maker: RecordMaker,
    rate: float,
    turns: Turns,
    told: Callable[[Turn], None] = lambda turn: None,
) -> list[list[NDArray[np.float64]]]:
    """For each job and measured turn of its: how late each record's answer was, or nan."""
    clock, plan = SystemClock(), turns.of(len(jobs))
    seconds = plan[-1].end_s
    rates = [
        [(f"{t.end_s - t.begin_s:g}s", rate if t.who == who else IDLE_RATE) for t in plan]
        for who in range(len(jobs))
    ]
    with ExitStack() as stack:
        stages = [stack.enter_context(Stage(job)) for job in jobs]
        for stage in stages:
            stage.wait_ready()
        begin_us = clock.now_us() + round(2 * LEAD_S * 1e6)
        feeders = [
            stack.enter_context(stage.feed(maker, steps, seconds, begin_us))
            for stage, steps in zip(stages, rates, strict=True)
        ]
        for turn in plan:
            take_turn(stages, turn, begin_us, told)
        for stage, feeder in zip(stages, feeders, strict=True):
            stage.freeze(False)
            feeder.wait(START_S)
        answers = [stage.seen() for stage in stages]
    return [
        parts_of(latencies_s(maker, steps, begin_us, parse_rate(steps).count_in(seconds), seen),
                 [turn for turn in plan if turn.who == who])
        for who, (steps, seen) in enumerate(zip(rates, answers, strict=True))
    ]  # fmt: skip


def take_turn(
    stages: Sequence[Stage], turn: Turn, begin_us: int, told: Callable[[Turn], None]
) -> None:
    """Let one job have the host until its turn is over."""
    clock = SystemClock()
    for who, stage in enumerate(stages):
        stage.freeze(who != turn.who)
    clock.sleep(max(0.0, turn.end_s - (clock.now_us() - begin_us) / 1e6))
    told(turn)


def parts_of(
    found: tuple[NDArray[np.float64], NDArray[np.float64]], own: list[Turn]
) -> list[NDArray[np.float64]]:
    """How late the records of each turn that was measured were answered."""
    due_s, late_s = found
    spans = [turn.measured_s for turn in own if turn.measured_s is not None]
    return [late_s[(due_s >= first_s) & (due_s < last_s)] for first_s, last_s in spans]

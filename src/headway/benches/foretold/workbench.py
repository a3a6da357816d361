"""A workload on Spark whose rate and pace change step by step: learned from, then measured."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from headway.benches.foretold.steps import BEGIN_S, Setting, Step, drained, learning_first
from headway.clock import SystemClock
from headway.engine.spark.learning.profiling import drop
from headway.engine.spark.run import RunHandle, run
from headway.engine.spark.settings import Settings
from headway.errors import RunError
from headway.keep.pacing import Pace
from headway.measure.batches import BatchLine
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile, profile_of
from headway.measure.latency import Latency
from headway.measure.summary import latency_of
from headway.model.candidate import Load
from headway.model.predict import predict
from headway.model.prediction import Prediction
from headway.workloads.registry import Workload

PATIENCE_S = 120.0
RECENT = 64  # batches that tell how costs have changed, at most: those of two judged steps
LEAST = 0.4  # the share of a step's records that batches wholly within it must have
GROWN, SLACK_S = 1.5, 0.1  # how much later the end of a step may be than its beginning


@dataclass(frozen=True, slots=True)
class Measured:
    """What was seen of a setting: latency of records, of windows, and whether it kept up."""

    setting: Setting
    records: Latency
    windows: Latency
    kept_up: bool
    phases_s: Mapping[str, float] = field(default_factory=dict)  # of a record, on average
    known: JobProfile = field(default_factory=lambda: JobProfile(""))  # when it was run
    ahead: JobProfile = field(default_factory=lambda: JobProfile(""))  # and before it was


@dataclass(frozen=True, slots=True)
class Ran:
    """A step that was run: the log of its run, when it began, and the batches of its own."""

    step: Step
    lines: Sequence[BatchLine]
    begun_s: float
    own: list[BatchLine]


class Workbench:
    """Runs one workload in one session, as often as wanted."""

    def __init__(self, spark: Any, workload: Workload, folder: Path) -> None:
        self._spark, self._workload, self._folder = spark, workload, folder
        self._clock, self._runs = SystemClock(), 0
        self._flow, self._lanes = "", Lanes()  # of the last run

    def learned(self, rate_per_s: float, quick: bool) -> JobProfile:
        """What a run learns of itself within its first minutes: what a first plan is made of."""
        return self.trial(learning_first(rate_per_s, quick))[-1].known

    def measure(self, steps: Sequence[Step]) -> list[Measured]:
        """Run a flow through steps, and say how late answers were in each."""
        return self.trial(drained(steps, BEGIN_S))

    def trial(self, steps: Sequence[Step]) -> list[Measured]:
        """Run a flow through steps: what came of those to measure, and what was known of each.

        Steps to learn from make the profile; steps to judge by keep it up to date, as the keeper
        does while a flow runs: by how many times longer than expected their batches took. Of a
        setting that is measured, the ones before and after it tell how costs were meanwhile, and
        the last two before it what could be said ahead. Steps in a row whose states rest in one
        store are one run, which has its checkpoint for itself.
        """
        ran: list[Ran] = []
        for _, some in groupby(steps, key=lambda step: step.setting.store):
            ran += self._run(list(some))
        flow, lanes = self._flow, self._lanes
        judged = [place for place, each in enumerate(ran) if each.step.judged]
        kept: list[BatchLine] = []
        profile, found = JobProfile(flow, lanes), list[Measured]()
        for place, each in enumerate(ran):
            step = each.step
            if step.learned:
                kept += each.own
                profile = profile_of(kept, flow, "micro-batch", lanes)
            elif not step.judged and step.seconds > step.warm_s:
                before = [ran[other].own for other in judged if other < place][-2:]
                after = [ran[other].own for other in judged if other > place][:1]
                seen = measured(step, each.lines, each.begun_s)
                ahead, known = (brought_up(profile, own) for own in (before, before[-1:] + after))
                found.append(replace(seen, known=known, ahead=ahead))
        return found

    def _run(self, steps: Sequence[Step]) -> list[Ran]:
        self._runs += 1
        build = self._workload.native or self._workload.pair
        assert build is not None
        schedule = [(f"{step.seconds}s", step.setting.rate_per_s) for step in steps]
        count = sum(round(step.seconds * step.setting.rate_per_s) for step in steps)
        source = self._workload.source(schedule, count)
        flow = build(source).to(drop)
        first = steps[0].setting
        pace = Pace(interval_s=first.interval_s, readers=first.readers)
        folder = self._folder / f"run-{self._runs}"
        settings = Settings(pace=pace, store=first.store)
        with run(flow, folder=folder, session=self._spark, settings=settings) as handle:
            begun_s = self._began(handle)
            self._steer(handle, steps, begun_s)
            handle.wait(PATIENCE_S)
        self._flow, self._lanes, lines = flow.fingerprint, handle.lanes, handle.lines()
        begins = np.cumsum([begun_s, *(step.seconds for step in steps)]).tolist()
        return [
            Ran(step, lines, at_s, own_lines(step, lines, at_s))
            for step, at_s in zip(steps, begins, strict=False)
        ]

    def _began(self, handle: RunHandle) -> float:
        """When the first record was due: the oldest of the first batch."""
        until = self._clock.steady_s() + PATIENCE_S
        while not any(line.rows for line in handle.lines()):
            if self._clock.steady_s() > until:
                raise RunError(f"no batch within {PATIENCE_S:g} s")
            handle.wait(0.02)
        first = next(line for line in handle.lines() if line.rows)
        return first.published_s - float(first.latency["max"])

    def _steer(self, handle: RunHandle, steps: Sequence[Step], begun_s: float) -> None:
        """Give each step its pace when its time has come."""
        over, at_s = threading.Event(), begun_s
        for step in steps:
            over.wait(max(0.0, at_s - self._clock.now_us() / 1e6))
            wanted = step.setting
            handle.set_pace(interval=f"{wanted.interval_s}s", readers=wanted.readers)
            at_s += step.seconds


def brought_up(profile: JobProfile, judged: Sequence[Sequence[BatchLine]]) -> JobProfile:
    """A profile whose costs are as they were in steps that are judged by; as it is without any."""
    lines = [line for own in judged for line in own]
    batch = replace(profile.batch, ratios=()) if lines else profile.batch
    for line in lines:
        batch = batch.judged(line, profile.lanes, RECENT)
    return replace(profile, batch=batch)


def own_lines(step: Step, lines: Sequence[BatchLine], begun_s: float) -> list[BatchLine]:
    """The batches of a step that took only records of its second part."""
    return [
        line
        for line in lines
        if line.rows
        and line.published_s - float(line.latency["max"]) >= begun_s + step.warm_s
        and line.published_s - float(line.latency["min"]) <= begun_s + step.seconds
    ]


def kept_up(step: Step, own: Sequence[BatchLine], begun_s: float) -> bool:
    """Whether records do not come later and later: the last third is no later than the first."""
    third_s = (step.seconds - step.warm_s) / 3
    first_s, last_s = begun_s + step.warm_s + third_s, begun_s + step.seconds - third_s
    due_s = [line.published_s - float(line.latency["mean"]) for line in own]
    early = [line for line, due in zip(own, due_s, strict=True) if due < first_s]
    late = [line for line, due in zip(own, due_s, strict=True) if due >= last_s]
    if sum(line.rows for line in own) < LEAST * step.setting.rate_per_s * 3 * third_s:
        return False
    first, last = (
        np.mean([float(line.latency["mean"]) for line in part])
        for part in (early or own[:1], late or own[-1:])
    )
    return bool(last <= GROWN * first + SLACK_S)


def measured(step: Step, lines: Sequence[BatchLine], begun_s: float) -> Measured:
    """What the batches of a step tell, of those that took only records of its second part."""
    own = own_lines(step, lines, begun_s)
    records = Latency.together(latency_of(line) for line in own)
    told = [
        line
        for line in lines
        if line.window_latency.get("count")
        and begun_s + step.warm_s <= ended_s(line) <= begun_s + step.seconds
    ]
    windows = Latency.of(
        np.repeat(
            [float(line.window_latency["mean"]) for line in told],
            [int(line.window_latency["count"]) for line in told],
        )
    )
    return Measured(step.setting, records, windows, kept_up(step, own, begun_s), phases_in(own))


def ended_s(line: BatchLine) -> float:
    """When the windows ended, on average, that a batch has told."""
    return line.published_s - float(line.window_latency["mean"])


def phases_in(lines: Sequence[BatchLine]) -> dict[str, float]:
    """The mean time of a record in each phase."""
    told = [line for line in lines if line.phases]
    rows = sum(line.rows for line in told)
    names = dict.fromkeys(name for line in told for name in line.phases)
    return {
        name: sum(line.rows * line.phases[name]["mean"] for line in told if name in line.phases)
        / max(1, rows)
        for name in names
    }


def foretell(profile: JobProfile, setting: Setting) -> Prediction:
    """What the model says about a setting."""
    candidate = setting.candidate(profile.lanes.cores)
    return predict(profile, candidate, Load(setting.rate_per_s, 0.0))

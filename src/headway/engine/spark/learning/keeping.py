"""The keeper of a running flow: looks at it every few seconds and changes it when that pays."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from headway.clock import SystemClock
from headway.engine.spark.gate.offsets import NATIVE
from headway.engine.spark.learning.figures import WARM, of_mode
from headway.engine.spark.settings import Settings
from headway.errors import RunError
from headway.flow.goals import Goal
from headway.flow.graph import Flow
from headway.flow.rates import RateSchedule
from headway.keep.decisions import DECISIONS, Decision, write_decision
from headway.keep.loop import Caution, Kept, choose_plan, load_of
from headway.keep.pacing import Pace
from headway.keep.seeing import look
from headway.measure.batches import BatchLine
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stores import Store
from headway.measure.costs.stretches import StreamCosts, stream_costs
from headway.model.candidate import Candidate
from headway.model.predict import predict
from headway.plan.modes import Mode, RealTime, modes_of
from headway.plan.planner import make_plan
from headway.plan.search import Wanted
from headway.plan.space import space_of

LEARNING = 48  # batches that teach what is fixed and what each record costs, whatever their size
RECENT = 64  # batches that tell how costs have changed
LEAST_BATCHES = 8  # of the running flow before anything is changed; a stretch counts as half of it
RESTART_S = 15.0
Modes = Callable[[], tuple[Mode, ...]]  # those that can be; asked only where it matters


class Run(Protocol):
    """What the keeper needs of a run."""

    flow: Flow
    settings: Settings
    lanes: Lanes

    @property
    def mode(self) -> Mode:
        """How the flow runs now."""
        ...

    @property
    def store(self) -> Store | None:
        """Where its states rest."""
        ...

    @property
    def pace(self) -> Pace:
        """The pace that the next batch will have."""
        ...

    def lines(self) -> list[BatchLine]:
        """One line per batch so far."""
        ...

    def set_pace(self, *, interval: str, readers: int) -> Pace:
        """Change the pace."""
        ...

    def switch(self, mode: Mode, patience_s: float, real_time: RealTime | None) -> float:
        """Change the mode or its knobs; returns the seconds that it took."""
        ...


@dataclass(slots=True)
class Learned:
    """What is known of the costs of the running flow, brought up to date batch by batch.

    Batches of a size that was not seen teach the line; those of a known size tell how costs have
    changed (see BatchCosts.judged).
    """

    profile: JobProfile
    seen: int = 0
    newest_s: float = 0.0

    def see(self, lines: list[BatchLine], query: str) -> None:
        """Learn from batches that are new."""
        batch, lanes = self.profile.batch, self.profile.lanes
        known = of_mode(lines, query, "micro-batch")[WARM["micro-batch"] :]
        fresh = [line for line in known if line.published_s > self.newest_s]
        for before, line in zip([None, *fresh], fresh, strict=False):
            if batch.batches < LEARNING or not batch.knows(line):
                batch = batch.seen(line, lanes, 1.0)
            else:
                batch = batch.judged(line, lanes, RECENT)
            batch = batch if before is None else batch.followed(before, line)
        streams = of_mode(lines, query, "real-time")[WARM["real-time"] :]
        told = stream_costs(line for line in streams if line.published_s > self.newest_s)
        stream: StreamCosts = self.profile.stream.together(told, 1.0)
        self.profile = replace(self.profile, batch=batch, stream=stream)
        self.seen += len(fresh) + LEAST_BATCHES // 2 * len(told.stretches)
        self.newest_s = max([self.newest_s, *(line.published_s for line in lines)])


class Keeper:
    """Passes over a run until it ends; in passive mode it changes nothing."""

    def __init__(
        self,
        run: Run,
        goal: Goal,
        known: JobProfile,
        folder: Path,
        caution: Caution | None = None,
    ) -> None:
        self._run, self._folder, self._goal = run, folder, goal
        # What was there before this run began is in the profile already, and no news of the rate.
        self._begun_s = max((line.published_s for line in run.lines()), default=0.0)
        self._learned = Learned(known)
        # A limit on the rows of a batch is a wish that the model knows nothing of.
        self._passive = run.settings.keeping == "passive" or run.pace.max_rows is not None
        self._lateness_s = run.flow.lateness_s
        self.caution = caution or Caution()
        self.kept = Kept(candidate_of(run))
        self.decisions: list[Decision] = []
        self._looked_s, self._clock = 0.0, SystemClock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="headway-keeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Decide nothing more."""
        self._over.set()

    def _loop(self) -> None:
        while not self._over.wait(self.caution.every_s):
            try:
                self._pass()
            except Exception as error:
                # A pass that fails leaves the flow as it is; the next one may know more.
                if not self._over.is_set():
                    sys.stderr.write(f"the keeper leaves the flow as it is: {error}\n")

    def _pass(self) -> None:
        query = self._run.flow.sinks[0].name
        lines = [line for line in self._run.lines() if line.query == query]
        own = [line for line in lines if line.published_s > self._begun_s]
        self._learned.see(own, query)
        self.kept = replace(self.kept, now=candidate_of(self._run))
        since = [line for line in own[1:] if line.published_s > self.kept.changed_s]
        flowing = look(since, self._goal)
        if flowing is None or self._learned.seen < LEAST_BATCHES or self._over.is_set():
            return
        if flowing.at_s <= self._looked_s:
            return  # no batch has ended since
        self._looked_s = flowing.at_s
        profile, lanes = self._learned.profile, self._run.lanes
        modes, store = modes_of(self._run.flow), self._run.store
        space = space_of(profile, modes, lanes.cores, lanes.reducers, store)
        space = replace(space, stores=(store,))  # no other, even where nobody knows what it is
        wanted = Wanted(self._goal, load_of(profile, 1.0, self._lateness_s))
        before = self.kept
        self.kept, said = choose_plan(before, flowing, space, wanted, self.caution)
        if said.action == "change":
            said = self._act(before, said)
        write_decision(self._folder / DECISIONS, said)
        self.decisions.append(said)

    def _act(self, before: Kept, said: Decision) -> Decision:
        """Bring a decision about, or say that it would have been."""
        if self._passive:
            assert self.kept.expected is not None
            profile = self._learned.profile
            now = predict(profile, before.now, self.kept.expected.under)
            self.kept = replace(before, expected=now, by=profile)
            expected_s = now.of(self._goal)
            return replace(said, action="would change", candidate=before.now, expected_s=expected_s)
        after = said.candidate
        if "real-time" in (after.mode, before.now.mode):
            gap_s, why = self._switched(after)
            if not gap_s:
                self.kept = replace(before, changed_s=said.at_s)  # not again at once
                return replace(said, action="keep", because=why, candidate=before.now)
            self.caution = replace(self.caution, restart_s=max(gap_s, 0.5))
            # A change may wait for a checkpoint: what came before it is no news of the new mode.
            self.kept = replace(self.kept, changed_s=self._clock.now_us() / 1e6)
        if after.mode == "micro-batch":
            self._run.set_pace(interval=f"{after.interval_s}s", readers=after.mappers)
        return said

    def _switched(self, after: Candidate) -> tuple[float, str]:
        """Change the mode or its knobs; how long that took, or why it did not come to it."""
        knobs = self._run.settings.real_time
        patience_s = knobs.checkpoint_s + RESTART_S
        if after.mode == "real-time":
            knobs = in_real_time(self._run.settings, after).real_time
        try:
            return self._run.switch(after.mode, patience_s, knobs), "the run has ended"
        except RunError as error:
            return 0.0, str(error)


def candidate_of(run: Run) -> Candidate:
    """The way in which a run runs now."""
    lanes, knobs = run.lanes, run.settings.real_time
    if run.mode == "real-time":
        seen = [line for line in run.lines() if line.because == NATIVE and line.readers]
        mappers = seen[-1].readers if seen else 1
        reducers = int(seen[-1].work.get("tasks", knobs.tasks)) if seen else knobs.tasks
        every_s = run.settings.pace.interval_s
    else:
        mappers, reducers = run.pace.readers or lanes.cores, lanes.reducers
        every_s = run.pace.interval_s
    return Candidate(
        run.mode, 1, lanes.cores, mappers, reducers, every_s,
        knobs.checkpoint_s, knobs.shuffle_wait_s, knobs.fetch_wait_s,
        None if run.mode == "real-time" else run.store,
    )  # fmt: skip


def first_settings(
    settings: Settings, goal: Goal | None, flow: Flow, known: JobProfile, modes: Modes
) -> Settings:
    """How a flow starts: as planned where it is known, or by batches well within its goal."""
    # A limit on the rows of a batch is a wish that the model knows nothing of.
    if goal is None or settings.keeping != "active" or settings.pace.max_rows is not None:
        return settings
    chosen = planned(goal, flow, known, modes, settings.store)
    if chosen is None:
        careful_s = min(settings.pace.interval_s, goal.limit_s / 3)
        return replace(settings, pace=replace(settings.pace, interval_s=careful_s))
    if chosen.mode == "micro-batch":
        pace = replace(settings.pace, interval_s=chosen.interval_s, readers=chosen.mappers)
        return replace(settings, pace=pace, store=settings.store or chosen.store)
    return replace(in_real_time(settings, chosen), mode="real-time")


def in_real_time(settings: Settings, chosen: Candidate) -> Settings:
    """Settings with the checkpoints and waits of a candidate."""
    knobs = replace(
        settings.real_time, checkpoint_s=chosen.checkpoint_s, shuffle_wait_s=chosen.shuffle_wait_s
    )
    return replace(settings, real_time=knobs)


def planned(
    goal: Goal, flow: Flow, known: JobProfile, modes: Modes, store: Store | None = None
) -> Candidate | None:
    """The plan for the rate that is to be expected; None where no plan or no rate is known."""
    rate_per_s = rate_of(flow, known)
    if known.empty or rate_per_s <= 0:
        return None
    space = space_of(known, modes(), known.lanes.cores, known.lanes.reducers, store)
    wanted = Wanted(goal, load_of(known, 1.0, flow.lateness_s))
    chosen = make_plan(space, wanted, 1, rate_per_s).chosen
    return chosen.candidate if chosen else None


def rate_of(flow: Flow, known: JobProfile) -> float:
    """The rate to expect: what a replay says, or how records came so far; 0 where none is known."""
    found = (getattr(source.topic, "rate", None) for source in flow.sources)
    rates = [each for each in found if isinstance(each, RateSchedule) and each.steps]
    if len(rates) == len(flow.sources):
        return float(sum(rate.rate_at(0.0) for rate in rates))
    came = known.arrivals
    return 1 / came.first if came.count and came.first > 0 else 0.0

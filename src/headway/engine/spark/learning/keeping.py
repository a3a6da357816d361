"""The keeper of a running flow: looks at it every few seconds and changes it when that pays."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from headway.engine.spark.learning.figures import WARM, of_mode
from headway.engine.spark.settings import Settings
from headway.errors import HeadwayError
from headway.flow.goals import Goal
from headway.flow.graph import Flow
from headway.keep.decisions import DECISIONS, Decision, write_decision
from headway.keep.loop import Caution, Kept, choose_plan, load_of
from headway.keep.pacing import Pace
from headway.keep.seeing import look
from headway.measure.batches import BatchLine
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stretches import StreamCosts, stream_costs
from headway.model.candidate import Candidate
from headway.plan.modes import Mode, modes_of
from headway.plan.planner import make_plan
from headway.plan.search import Wanted
from headway.plan.space import space_of

FADE = 0.97  # of what was known, at each new batch: the flow as it is now counts most
LEAST_BATCHES = 8  # of the running flow before anything is changed


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
    def pace(self) -> Pace:
        """The pace that the next batch will have."""
        ...

    def lines(self) -> list[BatchLine]:
        """One line per batch so far."""
        ...

    def set_pace(self, *, interval: str, readers: int) -> Pace:
        """Change the pace."""
        ...

    def switch(self, mode: Mode) -> float:
        """Change the mode; returns the seconds that it took."""
        ...


@dataclass(slots=True)
class Learned:
    """What is known of the costs of the running flow, brought up to date batch by batch."""

    profile: JobProfile
    seen: int = 0
    newest: float = 0.0

    def see(self, lines: list[BatchLine], query: str) -> None:
        """Learn from batches that are new."""
        batch = self.profile.batch
        known = of_mode(lines, query, "micro-batch")[WARM["micro-batch"] :]
        fresh = [line for line in known if line.published_s > self.newest]
        for before, line in zip([None, *fresh], fresh, strict=False):
            batch = batch.seen(line, self.profile.lanes, FADE)
            batch = batch if before is None else batch.followed(before, line)
        streams = of_mode(lines, query, "real-time")[WARM["real-time"] :]
        told = stream_costs(line for line in streams if line.published_s > self.newest)
        stream: StreamCosts = self.profile.stream.together(told, 1.0)
        self.profile = replace(self.profile, batch=batch, stream=stream)
        self.seen += len(fresh) + len(told.stretches)
        self.newest = max([self.newest, *(line.published_s for line in lines)])


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
        self._run, self._folder = run, folder
        self._learned = Learned(known)
        self._passive = run.settings.keeping == "passive"
        self._lateness_s = lateness_of(run.flow)
        self._goal = goal
        self.caution = caution or Caution()
        self.kept = Kept(candidate_of(run))
        self.decisions: list[Decision] = []
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
            except HeadwayError as error:
                sys.stderr.write(f"the keeper leaves the flow as it is: {error}\n")
                return

    def _pass(self) -> None:
        lines = self._run.lines()
        query = self._run.flow.sinks[0].name
        self._learned.see(lines, query)
        own = [line for line in lines if line.query == query]
        flowing = look(own[WARM["micro-batch"] :], self._goal)
        if flowing is None or self._learned.seen < LEAST_BATCHES or self._over.is_set():
            return
        profile = self._learned.profile
        lanes = self._run.lanes
        space = space_of(profile, modes_of(self._run.flow), lanes.cores, lanes.reducers)
        wanted = Wanted(self._goal, load_of(profile, 1.0, self._lateness_s))
        before = self.kept
        self.kept, said = choose_plan(before, flowing, space, wanted, self.caution)
        if said.action == "change":
            if self._passive:
                self.kept = replace(before, expected=self.kept.expected)
                said = replace(said, action="would change")
            else:
                self._apply(before.now, self.kept.now)
        self.decisions.append(said)
        write_decision(self._folder / DECISIONS, said)

    def _apply(self, before: Candidate, after: Candidate) -> None:
        """Bring a decision about."""
        if after.mode == "real-time":
            knobs = replace(
                self._run.settings.real_time,
                checkpoint_s=after.checkpoint_s,
                shuffle_wait_s=after.shuffle_wait_s,
            )
            self._run.settings = replace(self._run.settings, real_time=knobs)
        if after.mode != before.mode:
            gap_s = self._run.switch(after.mode)
            self.caution = replace(self.caution, restart_s=max(gap_s, 0.5))
        if after.mode == "micro-batch":
            self._run.set_pace(interval=f"{after.interval_s}s", readers=after.mappers)


def candidate_of(run: Run) -> Candidate:
    """The way in which a run runs now."""
    lanes, knobs = run.lanes, run.settings.real_time
    readers = run.pace.readers or lanes.cores
    return Candidate(
        run.mode, 1, lanes.cores, readers, lanes.reducers, run.pace.interval_s,
        knobs.checkpoint_s, knobs.shuffle_wait_s, knobs.fetch_wait_s,
    )  # fmt: skip


def first_settings(
    settings: Settings, goal: Goal | None, flow: Flow, known: JobProfile
) -> Settings:
    """How a flow starts: as planned where it is known, or by batches well within its goal."""
    if goal is None or settings.keeping != "active":
        return settings
    chosen = planned(goal, flow, known)
    if chosen is None:
        careful_s = min(settings.pace.interval_s, goal.limit_s / 3)
        return replace(settings, pace=replace(settings.pace, interval_s=careful_s))
    if chosen.mode == "micro-batch":
        pace = replace(settings.pace, interval_s=chosen.interval_s, readers=chosen.mappers)
        return replace(settings, pace=pace)
    knobs = replace(
        settings.real_time, checkpoint_s=chosen.checkpoint_s, shuffle_wait_s=chosen.shuffle_wait_s
    )
    return replace(settings, mode="real-time", real_time=knobs)


def planned(goal: Goal, flow: Flow, known: JobProfile) -> Candidate | None:
    """The plan for the rate at which records came when the profile was made; None without one."""
    came = known.batch.arrivals if known.batch.arrivals.count else known.stream.arrivals
    if known.empty or not came.count or came.first <= 0:
        return None
    space = space_of(known, modes_of(flow), known.lanes.cores, known.lanes.reducers)
    wanted = Wanted(goal, load_of(known, 1.0, lateness_of(flow)))
    chosen = make_plan(space, wanted, 1, 1 / came.first).chosen
    return chosen.candidate if chosen else None


def lateness_of(flow: Flow) -> float:
    """How long the windows of a flow wait for stragglers, in seconds."""
    lateness = [step.window.lateness_us for step in flow.stateful() if step.window]
    return max(lateness, default=0) / 1e6

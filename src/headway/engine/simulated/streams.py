"""Real-time mode on a simulated cluster: tasks that run on, records that pass, and pauses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import simpy
from numpy.typing import NDArray

from headway.engine.simulated.lines import Cut, plain_line
from headway.engine.simulated.world import Process, Traffic, World
from headway.measure.batches import BatchLine
from headway.measure.costs.profile import JobProfile
from headway.measure.latency import STEPS, Latency
from headway.measure.phases import Phase
from headway.model.candidate import Candidate, Load
from headway.model.prediction import RANKS
from headway.model.real_time import nearest, tasks_of

GROUP_S = 0.001  # records that come within it go together


@dataclass(slots=True)
class Group:
    """Records that came together, and when each phase of them ended."""

    came_s: float
    count: int
    reducer: int
    read_s: float = 0.0
    mapped_s: float = 0.0
    reduced_s: float = 0.0
    told_s: float = 0.0
    read_pause_s: float = 0.0
    reduce_pause_s: float = 0.0


class StreamRun:
    """A flow in real-time mode: a mapper for each partition, and reducers behind a shuffle."""

    def __init__(
        self,
        world: World,
        candidate: Candidate,
        profile: JobProfile,
        traffic: Traffic,
        arrivals_s: NDArray[np.float64],
    ) -> None:
        self.world, self.candidate = world, candidate
        self.lines: list[BatchLine] = []
        self.cuts: list[Cut] = []
        self.done: list[Group] = []
        self._arrivals_s = arrivals_s
        self._shares = traffic.shares(candidate.reducers)
        rate = max(1.0, len(arrivals_s) / max(float(arrivals_s[-1]), 1e-9))
        self._near = nearest(profile, candidate, rate)
        self._tasks = tasks_of(profile, candidate)
        self._pause_s = float(np.median([each.pause_s for each in self._near]))
        # What was seen holds the waits of its own rate, which the queues here add themselves.
        seen_at = Load(float(np.median([each.rate_per_s for each in self._near])))
        self._waited_s = self._tasks.waits_s(seen_at)
        self._stores = [simpy.Store(world.env) for _ in range(candidate.reducers)]

    def start(self) -> None:
        """Put every task to work."""
        groups = self._groups()
        for number in range(self.candidate.mappers):
            own = groups[number :: self.candidate.mappers]
            self.world.env.process(self._map(number, own))
        for number in range(self.candidate.reducers):
            self.world.env.process(self._reduce(number))

    def _groups(self) -> list[Group]:
        """Records by the millisecond, each group with the reducer of most of its keys."""
        ticks = np.floor(self._arrivals_s / GROUP_S).astype(np.int64)
        found, counts = np.unique(ticks, return_counts=True)
        reducers = self.world.chance.choice(len(self._shares), len(found), p=self._shares)
        return [
            Group(float(tick) * GROUP_S, int(count), int(reducer))
            for tick, count, reducer in zip(found, counts, reducers, strict=True)
        ]

    def _map(self, number: int, groups: list[Group]) -> Process:
        env, tasks = self.world.env, self._tasks
        for group in groups:
            ready_s = group.came_s + self._passing("fetch", self._waited_s["fetch"])
            yield env.timeout(max(0.0, ready_s - env.now))
            group.read_pause_s = yield from self._wait_for_checkpoint()
            group.read_s = env.now
            yield from self.world.on_core(number, group.count * tasks.map_cpu_s)
            group.mapped_s = env.now
            env.process(self._shuffle(group))

    def _shuffle(self, group: Group) -> Process:
        """On the way to the reducer, waiting for others as long as the candidate lets it."""
        seen_s = self._near[-1].shuffle_wait_s
        more_s = (self.candidate.shuffle_wait_s - seen_s) * self.world.chance.random()
        way_s = self._passing("shuffle", self._waited_s["shuffle"]) + more_s
        yield self.world.env.timeout(max(0.0, way_s))
        self._stores[group.reducer].put(group)

    def _reduce(self, number: int) -> Process:
        env, store = self.world.env, self._stores[number]
        task = self.candidate.mappers + number
        while True:
            group = yield store.get()
            group.reduce_pause_s = yield from self._wait_for_checkpoint()
            yield from self.world.on_core(task, group.count * self._tasks.reduce_cpu_s)
            group.reduced_s = env.now
            group.told_s = env.now + self._passing("publish") + self._passing("map")
            self.done.append(group)

    def _wait_for_checkpoint(self) -> Process:
        """Nothing is read or reduced while a checkpoint is made; how long that was."""
        env, every_s = self.world.env, self.candidate.checkpoint_s
        into_s = env.now % every_s
        if env.now < every_s or into_s >= self._pause_s:
            return 0.0
        yield env.timeout(self._pause_s - into_s)
        return self._pause_s - into_s

    def _passing(self, name: str, without_s: float = 0.0) -> float:
        """A time in a phase, drawn from those that were seen, without the queue in it."""
        near = self._near[int(self.world.chance.integers(len(self._near)))]
        steps = near.steps_s.get(name, ())
        if not steps:
            return max(0.0, near.phases_s.get(name, 0.0) - without_s)
        drawn = float(np.interp(self.world.chance.random(), RANKS, steps))
        usual_s = float(np.average(steps, weights=np.diff(STEPS)))
        scale = near.phases_s.get(name, 0.0) / max(usual_s, 1e-12)
        return max(0.0, drawn * scale - without_s)

    def tell(self) -> None:
        """Make a line of each stretch."""
        every_s, first = self.candidate.checkpoint_s, 0
        stretches: dict[int, list[Group]] = {}
        for group in sorted(self.done, key=lambda group: group.came_s):
            stretches.setdefault(int(group.came_s // every_s), []).append(group)
        for number, groups in sorted(stretches.items()):
            counts = np.array([group.count for group in groups])
            late = repeated([g.told_s - g.came_s for g in groups], counts)
            cut = Cut(number, first, first + int(counts.sum()), number * every_s)
            ended_s = max(group.told_s for group in groups)
            phases = {name: Phase.of(each) for name, each in parts_of(groups, counts).items()}
            self.lines.append(plain_line(cut, ended_s, late, self.candidate, phases))
            self.cuts.append(cut)
            first = cut.stop


def parts_of(groups: list[Group], counts: NDArray[np.int64]) -> dict[str, Latency]:
    """The time of records in each phase."""
    parts = {
        "pause": [g.read_pause_s + g.reduce_pause_s for g in groups],
        "fetch": [g.read_s - g.came_s - g.read_pause_s for g in groups],
        "map": [g.mapped_s - g.read_s for g in groups],
        "shuffle": [g.reduced_s - g.mapped_s - g.reduce_pause_s for g in groups],
        "publish": [g.told_s - g.reduced_s for g in groups],
    }
    return {name: repeated(each, counts) for name, each in parts.items()}


def repeated(values: list[float], counts: NDArray[np.int64]) -> Latency:
    """Latencies of groups, each as often as it has records."""
    return Latency.of(np.repeat(np.maximum(np.asarray(values, dtype=np.float64), 0.0), counts))

"""Micro-batches on a simulated cluster: a driver, tasks on cores, a shuffle over links."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headway.engine.simulated.lines import Cut, line_of
from headway.engine.simulated.world import Process, Traffic, World
from headway.measure.batches import BatchLine
from headway.measure.costs.batches import BatchSize
from headway.measure.costs.fits import Line
from headway.measure.costs.profile import JobProfile
from headway.measure.phases import Timeline
from headway.model.candidate import Candidate
from headway.model.service import UNKNOWN_SPREAD

POLL_S = 0.01


@dataclass(slots=True)
class BatchRun:
    """A flow in micro-batch: batch after batch, each with its line in the log."""

    world: World
    candidate: Candidate
    profile: JobProfile
    traffic: Traffic
    arrivals_s: NDArray[np.float64]
    lines: list[BatchLine] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    published_s: float = 0.0

    def run(self, until_s: float) -> Process:
        """The driver: decide, run, publish, and so on until nothing comes any more."""
        env, taken, last_s = self.world.env, 0, -self.candidate.interval_s
        while env.now < until_s or taken < len(self.arrivals_s):
            yield env.timeout(max(0.0, last_s + self.candidate.interval_s - env.now))
            stop = int(np.searchsorted(self.arrivals_s, env.now, side="right"))
            if stop == taken:
                yield env.timeout(POLL_S)
                continue
            last_s = env.now
            cut = Cut(len(self.cuts), taken, stop, env.now)
            yield from self._batch(cut)
            taken = stop
            yield env.timeout(self.profile.batch.after_s.at(stop - cut.first))

    def _batch(self, cut: Cut) -> Process:
        env, costs = self.world.env, self.profile.batch
        rows = cut.stop - cut.first
        ratio = float(self.world.chance.choice(costs.ratios or UNKNOWN_SPREAD))
        came = self.arrivals_s[cut.first : cut.stop]
        lasting_s = float(came[-1] - came[0])
        size = costs.size(rows, self.candidate.mappers, self.candidate.lanes, lasting_s)
        spent = {
            name: self._line(name).at(size.of(name)) * ratio
            for name in costs.phases_s
            if name not in ("map", "shuffle write", "reduce")
        }
        before = {name: spent.get(name, 0.0) for name in ("offsets", "planning", "unexplained")}
        for seconds in before.values():
            yield env.timeout(seconds)
        called_s = env.now
        within = yield from self._stages(size, ratio, spent)
        computed_s = env.now
        yield env.timeout(spent.get("publish", 0.0))
        decided, called, computed, published = (
            round(s * 1e6) for s in (cut.decided_s, called_s, computed_s, env.now)
        )
        timeline = Timeline(decided, called, computed, published, before, within)
        since_s = cut.decided_s - self.published_s
        ages = cut.decided_s - came
        line = line_of(cut, timeline, np.maximum(ages, 0.0), since_s, self.candidate)
        self.published_s = env.now
        self.lines.append(line)
        self.cuts.append(cut)

    def _line(self, phase: str) -> Line:
        """What a phase costs as the candidate runs."""
        return self.profile.batch.line(phase, self.candidate.mappers, self.candidate.store)

    def _stages(self, size: BatchSize, ratio: float, spent: dict[str, float]) -> Process:
        """Map, shuffle and reduce, each phase with the time that it took on the wall."""
        env, walls, rows = self.world.env, dict[str, float](), round(size.rows)

        def wall(name: str, begun_s: float) -> None:
            walls[name] = walls.get(name, 0.0) + env.now - begun_s

        begun = env.now
        yield env.timeout(spent.get("launch", 0.0))
        wall("launch", begun)
        for name, work in (
            ("map", self._map(rows, ratio)),
            ("shuffle write", self._write(rows, ratio)),
            ("fetch", self._fetch(rows)),
            ("reduce", self._reduce(size.keys, ratio)),
        ):
            begun = env.now
            yield self.world.together(work)
            wall(name, begun)
        for name in ("fetch", "state", "collect"):
            begun = env.now
            yield env.timeout(spent.get(name, 0.0))
            wall(name, begun)
        return walls

    def _map(self, rows: int, ratio: float) -> list[Process]:
        costs, mappers = self.profile.batch, self.candidate.mappers
        if "map" not in costs.phases_s:
            return []
        line = self._line("map")
        shares = np.diff(np.linspace(0, rows, mappers + 1))
        return [self.world.on_core(n, line.at(float(x)) * ratio) for n, x in enumerate(shares)]

    def _write(self, rows: int, ratio: float) -> list[Process]:
        """Rows for the reducers, written by each node, on the disk of the profile or another."""
        costs, nodes = self.profile.batch, self.world.machines.nodes
        if self.world.machines.disk_mb_per_s is not None:
            megabytes = costs.shuffle_bytes.at(rows) / 1e6 / nodes
            return [self.world.to_disk(node, megabytes) for node in range(nodes)]
        if "shuffle write" not in costs.phases_s:
            return []
        line = self._line("shuffle write")
        each = rows / self.candidate.lanes.mapping(self.candidate.mappers)
        return [self.world.on_core(node, line.at(each) * ratio) for node in range(nodes)]

    def _fetch(self, rows: int) -> list[Process]:
        """What each node takes from the others: nothing when there are none."""
        nodes = self.world.machines.nodes
        if nodes == 1:
            return []
        megabytes = self.profile.batch.shuffle_bytes.at(rows) / 1e6 * (nodes - 1) / nodes / nodes
        return [self.world.over_link(node, megabytes) for node in range(nodes)]

    def _reduce(self, changed: float, ratio: float) -> list[Process]:
        costs, reducers = self.profile.batch, self.candidate.reducers
        if "reduce" not in costs.phases_s:
            return []
        line = self._line("reduce")
        keys = changed * self.traffic.shares(reducers)
        return [self.world.on_core(n, line.at(float(x)) * ratio) for n, x in enumerate(keys)]

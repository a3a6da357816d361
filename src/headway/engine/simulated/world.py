"""What is simulated: machines with cores, disks and links, and records that come to them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy
from numpy.typing import NDArray

from headway.flow.rates import RateSchedule

Process = Generator[simpy.Event, Any, Any]
HOTTEST = 1_000_000  # keys whose shares are summed up exactly


@dataclass(frozen=True, slots=True)
class Machines:
    """A cluster.

    nodes, cores     how many machines, and cores of each
    link_mb_per_s    what a node sends to the others, and takes from them
    disk_mb_per_s    what a node writes; None for a disk as fast as that of the profile
    slow_share       the share of tasks that are stragglers, and slow_times how long they take
    """

    nodes: int = 1
    cores: int = 2
    link_mb_per_s: float = 1_000.0
    disk_mb_per_s: float | None = None
    slow_share: float = 0.0
    slow_times: float = 1.0


@dataclass(frozen=True, slots=True)
class Traffic:
    """How records come: at rates that change, by the clock or by chance, their keys by Zipf's law.

    keys      distinct keys, 0 when a profile's count of them is all that matters
    exponent  0 for keys that come alike often, 1 for Zipf's law
    seed      what chance is drawn from
    """

    schedule: RateSchedule
    poisson: bool = False
    keys: int = 0
    exponent: float = 0.0
    seed: int = 0

    def arrivals_s(self, seconds: float, chance: np.random.Generator) -> NDArray[np.float64]:
        """When records come, up to an instant."""
        count = self.schedule.count_in(seconds)
        due = self.schedule.due_us(0, count) / 1e6
        if not self.poisson or not len(due):
            return np.asarray(due[due <= seconds])
        # As many as are due, each shifted by chance: gaps become those of a Poisson stream.
        steps = np.diff(due, prepend=0.0)
        moved = np.cumsum(steps * chance.exponential(1.0, len(steps)))
        return np.asarray(moved[moved <= seconds])

    def shares(self, parts: int) -> NDArray[np.float64]:
        """The share of records that each of some reducers gets, by the hash of their keys."""
        if not self.keys or not self.exponent:
            return np.full(parts, 1 / parts)
        weights = 1 / np.arange(1, min(self.keys, HOTTEST) + 1) ** self.exponent
        owner = np.random.default_rng(0).integers(0, parts, len(weights))
        found = np.bincount(owner, weights, parts)
        return np.asarray(found / found.sum())


@dataclass(slots=True)
class World:
    """A cluster on a virtual clock."""

    machines: Machines
    chance: np.random.Generator
    env: simpy.Environment = field(default_factory=simpy.Environment)
    cores: list[simpy.Resource] = field(default_factory=list)
    links: list[simpy.Resource] = field(default_factory=list)
    disks: list[simpy.Resource] = field(default_factory=list)

    def __post_init__(self) -> None:
        nodes, cores = self.machines.nodes, self.machines.cores
        self.cores = [simpy.Resource(self.env, cores) for _ in range(nodes)]
        self.links = [simpy.Resource(self.env, 1) for _ in range(nodes)]
        self.disks = [simpy.Resource(self.env, 1) for _ in range(nodes)]

    def node_of(self, task: int) -> int:
        """Where a task runs: in turn, so that nodes have equally many."""
        return task % self.machines.nodes

    def straggle(self) -> float:
        """How many times longer a task takes: mostly once."""
        slow = self.chance.random() < self.machines.slow_share
        return self.machines.slow_times if slow else 1.0

    def on_core(self, task: int, seconds: float) -> Process:
        """Work that takes a core of the task's node."""
        with self.cores[self.node_of(task)].request() as core:
            yield core
            yield self.env.timeout(seconds * self.straggle())

    def over_link(self, node: int, megabytes: float) -> Process:
        """Bytes that a node takes from the others."""
        with self.links[node].request() as link:
            yield link
            yield self.env.timeout(megabytes / self.machines.link_mb_per_s)

    def to_disk(self, node: int, megabytes: float) -> Process:
        """Bytes that a node writes."""
        with self.disks[node].request() as disk:
            yield disk
            if self.machines.disk_mb_per_s is not None:
                yield self.env.timeout(megabytes / self.machines.disk_mb_per_s)

    def together(self, processes: list[Process]) -> simpy.Event:
        """All of them at once; done when the last is."""
        return self.env.all_of([self.env.process(each) for each in processes])

"""Every way to run a flow that a plan chooses from: a grid that is small enough to try whole."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stores import Store
from headway.model.candidate import Candidate
from headway.model.predict import known_in
from headway.plan.modes import MODES, Mode
from headway.plan.stores import choose_stores

# About a fifth apart: a goal that one meets, its neighbour hardly misses.
INTERVALS_S = (
    0.0, 0.1, 0.12, 0.15, 0.18, 0.22, 0.27, 0.33, 0.4, 0.5, 0.6, 0.75, 0.9, 1.1, 1.3, 1.6, 2.0, 2.4,
    3.0, 3.6, 4.3, 5.2, 6.3, 7.5, 9.0, 11.0, 13.0, 16.0, 20.0, 25.0, 30.0,
)  # fmt: skip
CHECKPOINTS_S = (10.0, 30.0, 60.0, 120.0, 300.0)
SHUFFLE_WAITS_S = (0.001, 0.005)


@dataclass(frozen=True, slots=True)
class Space:
    """The candidates for a flow with a profile, on some nodes.

    modes     the modes that the flow suits and the profile tells of
    reducers  how many tasks reduce, where that is fixed by a checkpoint; None leaves it free
    stores    where states may rest in micro-batch
    left_out  why others may not
    """

    profile: JobProfile
    modes: tuple[Mode, ...]
    cores: int
    reducers: int | None = None
    stores: tuple[Store | None, ...] = (None,)
    left_out: tuple[str, ...] = ()

    def on(self, nodes: int) -> list[Candidate]:
        """Every candidate on so many nodes."""
        return [each for mode in self.modes for each in self._in(mode, nodes)]

    def _in(self, mode: Mode, nodes: int) -> list[Candidate]:
        cores = nodes * self.cores
        if mode == "micro-batch":
            mappers = sorted({max(1, cores // 2), cores})
            made = product(INTERVALS_S, mappers, self._reducers(cores), self.stores)
            return [
                Candidate(mode, nodes, self.cores, m, r, interval_s=every, store=store)
                for every, m, r, store in made
            ]
        seen = self.profile.stream.stretches[-1]
        # A task maps each partition of a topic, on however many nodes; reducers can be more.
        reducers = seen.reducers * (nodes if self.reducers is None else 1)
        waits = product(CHECKPOINTS_S, SHUFFLE_WAITS_S)
        return [
            Candidate(
                mode, nodes, self.cores, seen.mappers, reducers,
                checkpoint_s=every, shuffle_wait_s=wait,
            )
            for every, wait in waits
        ]  # fmt: skip

    def _reducers(self, cores: int) -> list[int]:
        if self.reducers is not None:
            return [self.reducers]
        return sorted({max(1, cores // 2), cores})


def space_of(
    profile: JobProfile,
    suits: tuple[Mode, ...],
    cores: int,
    reducers: int | None = None,
    store: Store | None = None,
) -> Space:
    """The candidates that can be judged: what the profile says nothing about is left out.

    `reducers` and `store` are those of a checkpoint; one whose states rest in memory cannot be read
    in real-time mode.
    """
    stores, left_out = choose_stores(profile.batch.kept_s, store)
    known = tuple(
        mode
        for mode in MODES
        if mode in suits
        and known_in(profile, mode)
        and (stores if mode == "micro-batch" else store != "memory")
    )
    return Space(profile, known, cores, reducers, stores, left_out)

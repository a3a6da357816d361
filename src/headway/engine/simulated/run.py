"""Run a flow on a cluster that is not there, with costs from a profile; answers are real.

Time is simulated, answers are not: the batches that the simulation cuts are given to the reference
engine, which says what a run with these cuts would have answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headway.engine.reference.run import Arrived, Batch, Outcome, run_flow
from headway.engine.simulated.batches import BatchRun
from headway.engine.simulated.lines import Cut
from headway.engine.simulated.streams import StreamRun
from headway.engine.simulated.world import Machines, Traffic, World
from headway.errors import PlanError
from headway.flow.graph import Flow
from headway.measure.batches import BatchLine
from headway.measure.costs.profile import JobProfile
from headway.measure.latency import Latency
from headway.model.candidate import Candidate
from headway.model.predict import known_in

DRAIN = 3.0  # a run that needs so many times its length to answer everything has fallen behind


@dataclass(frozen=True, slots=True)
class Simulated:
    """A run that never was: a line per batch, and which records each took."""

    lines: tuple[BatchLine, ...]
    cuts: tuple[Cut, ...]
    records: int

    def latency(self, after_s: float = 0.0) -> Latency:
        """How late answers were, without batches that began before an instant."""
        own = [each for each in self.lines if each.started_s >= after_s and each.latency_steps]
        return Latency.together(
            Latency.from_steps(each.latency, each.latency_steps) for each in own
        )

    @property
    def answered(self) -> int:
        """How many records were answered within the time."""
        return sum(line.rows for line in self.lines)


def simulate(
    profile: JobProfile,
    candidate: Candidate,
    traffic: Traffic,
    seconds: float,
    machines: Machines | None = None,
) -> Simulated:
    """Let records come for a while, and follow each of them through the cluster."""
    if not known_in(profile, candidate.mode):
        raise PlanError(f"the profile says nothing of {candidate.mode}; run the flow in it first")
    here = machines or Machines(candidate.nodes, candidate.cores)
    chance = np.random.default_rng(traffic.seed)
    world = World(replace(here, nodes=candidate.nodes, cores=candidate.cores), chance)
    arrivals = traffic.arrivals_s(seconds, chance)
    if not len(arrivals):
        return Simulated((), (), 0)
    if candidate.mode == "micro-batch":
        batches = BatchRun(world, candidate, profile, traffic, arrivals)
        world.env.process(batches.run(seconds))
        world.env.run(until=seconds * DRAIN + 60)
        return Simulated(tuple(batches.lines), tuple(batches.cuts), len(arrivals))
    streams = StreamRun(world, candidate, profile, traffic, arrivals)
    streams.start()
    world.env.run(until=seconds * DRAIN + 60)
    streams.tell()
    return Simulated(tuple(streams.lines), tuple(streams.cuts), len(arrivals))


def answers_of(flow: Flow, sink: str | None, records: Sequence[Arrived], run: Simulated) -> Outcome:
    """What the simulated run answers, by the reference engine over its own batches.

    The flow has one source, whose records come in the order in which they are given.
    """
    source = flow.sources[0].name
    batches = [Batch({source: tuple(records[cut.first : cut.stop])}) for cut in run.cuts]
    return run_flow(flow, sink, batches)

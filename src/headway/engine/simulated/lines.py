"""Lines of a simulated run, as a real one would have written them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.moments import SERVICE, Moments
from headway.measure.phases import Phase, Timeline, micro_batch_phases
from headway.model.candidate import Candidate

BECAUSE = "simulated"
SOURCE = "simulated"


@dataclass(frozen=True, slots=True)
class Cut:
    """Which records a batch took, by their numbers, and when that was decided."""

    batch: int
    first: int
    stop: int
    decided_s: float


def line_of(
    cut: Cut,
    timeline: Timeline,
    ages_s: NDArray[np.float64],
    since_last_s: float,
    candidate: Candidate,
) -> BatchLine:
    """The line of a micro-batch."""
    aged = Latency.of(ages_s)
    published_s = timeline.published_us / 1e6
    latency = aged.moved(published_s - cut.decided_s)
    phases = micro_batch_phases(aged, since_last_s, timeline)
    return plain_line(cut, published_s, latency, candidate, phases)


def plain_line(
    cut: Cut, published_s: float, latency: Latency, candidate: Candidate, phases: dict[str, Phase]
) -> BatchLine:
    """A line from a latency and its phases."""
    rows, served_s = cut.stop - cut.first, max(0.0, published_s - cut.decided_s)
    every_s = candidate.interval_s if candidate.mode == "micro-batch" else candidate.checkpoint_s
    return BatchLine(
        query=SOURCE, batch=cut.batch, started_s=cut.decided_s, published_s=published_s, rows=rows,
        answers=rows, quarantined=0, interval_s=every_s, max_rows=None, readers=candidate.mappers,
        because=BECAUSE, watermark_s=0.0, start={SOURCE: {"0": cut.first}},
        end={SOURCE: {"0": cut.stop}}, latency=latency.as_dict(),
        window_latency=Latency.none().as_dict(),
        account={"arrived": cut.stop, "answered": cut.stop, "quarantined": 0, "waiting": 0},
        latency_steps=latency.steps(),
        phases={name: phase.as_dict() for name, phase in phases.items()},
        moments={SERVICE: Moments.of([served_s]).as_dict()}, store=candidate.store,
    )  # fmt: skip

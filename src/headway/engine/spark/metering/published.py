"""What the sink knows of a batch, kept until Spark reports the batch itself."""

from __future__ import annotations

from dataclasses import dataclass

from headway.measure.latency import Latency


@dataclass(frozen=True, slots=True)
class Published:
    """What the sink knows of a batch: how many answers, how late its windows, and the instants.

    Spark called for the batch, its result was there, its answers were out, Spark was let go on.
    """

    at_us: int
    answers: int
    windows: Latency
    called_us: int = 0
    computed_us: int = 0
    returned_us: int = 0


class Outbox(dict[int, Published]):
    """Batches whose answers are out, by number, until their line is written."""

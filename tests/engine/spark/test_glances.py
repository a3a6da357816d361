"""Stages are looked at now and then, and sooner where batches have become others."""

from __future__ import annotations

from headway.engine.spark.metering.stages import Glances, Stage
from tests.waiting import HandClock

STAGES = [
    Stage(1_000_000, 1_010_000, 1_210_000, 0.2, 0.0, 0.0),
    Stage(1_210_000, 1_220_000, 1_320_000, 0.1, 0.0, 0.0),
]


class Looks:
    """Glances at batches, a step of the clock apart, and how often Spark was asked."""

    def __init__(self) -> None:
        self.clock, self.asked = HandClock(), 0
        self.glances = Glances(self._look, self.clock)

    def _look(self) -> list[Stage]:
        self.asked += 1
        return STAGES

    def at(self, rows: int, readers: int, after_s: float) -> int:
        """Look at a batch, and say how often Spark was asked in all."""
        self.clock.at_s += after_s
        found = self.glances.of(rows, readers).within(1_000_000, 1_330_000, 0.0)
        assert round(sum(found.values()), 3) == 0.33
        return self.asked


def test_batches_that_are_alike_are_looked_at_every_five_seconds() -> None:
    looks = Looks()
    assert [looks.at(rows, 2, 2.0) for rows in (1_000, 1_100, 900, 1_200)] == [1, 1, 1, 2]


def test_a_batch_of_another_size_or_with_other_tasks_is_looked_at_sooner() -> None:
    looks = Looks()
    assert looks.at(1_000, 2, 2.0) == 1
    assert looks.at(5_000, 2, 0.1) == 2
    assert looks.at(5_000, 1, 0.1) == 3
    assert looks.at(10_000, 1, 0.2) == 3  # twice as large: not with every batch
    assert looks.at(10_000, 1, 1.0) == 4

"""What a pause made late does not count as passing, for it is foretold with the pause."""

from __future__ import annotations

import numpy as np
import pytest

from headway.measure.costs.stretches import undisturbed
from headway.measure.latency import MIDDLES as RANKS
from headway.measure.latency import STEPS


def phase(late_share: float) -> dict[str, object]:
    """A millisecond for most records, 200 of them for some."""
    steps = np.where(1 - late_share <= RANKS, 0.2, 0.001)
    return {"mean": float((steps * np.diff(STEPS)).sum()), "steps": steps.tolist()}


def test_as_many_of_the_longest_times_are_left_out_as_records_came_in_the_pause() -> None:
    mean_s, steps = undisturbed(phase(0.04), 0.05)
    assert mean_s == pytest.approx(0.001)
    assert max(steps) == 0.001
    assert len(steps) == len(RANKS)


def test_what_is_late_without_a_pause_stays() -> None:
    known = phase(0.04)
    mean_s, steps = undisturbed(known, 0.0)
    assert (mean_s, list(steps)) == (pytest.approx(known["mean"]), known["steps"])


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_a_phase_of_which_no_shape_is_known_keeps_its_mean(share: float) -> None:
    assert undisturbed({"mean": 0.3}, share) == (0.3, ())

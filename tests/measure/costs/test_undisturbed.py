"""What a pause made late does not count as passing, for it is foretold with the pause."""

from __future__ import annotations

import numpy as np
import pytest

from headway.measure.batches import BatchLine
from headway.measure.costs.stretches import Stretch, undisturbed
from headway.measure.latency import MIDDLES as RANKS
from headway.measure.latency import STEPS, Latency
from headway.testing.logs import made_line


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


def after_a_pause(**work: float) -> BatchLine:
    """A stretch of 20 s whose first records waited for up to 0.4 s, and were late for longer."""
    ages_s = np.concatenate([np.linspace(0.5, 0.01, 300), np.full(9_700, 0.01)])
    waited = {"mean": 0.006, "max": 0.4, "steps": Latency.of(ages_s - 0.01).steps()}
    fetch = {"mean": 0.01, "max": 0.01, "steps": [0.01] * len(RANKS)}
    return made_line(
        ages_s, 1_020.0, started_s=1_000.0, phases={"pause": waited, "fetch": fetch}, work=work
    )


def test_a_pause_has_held_up_all_that_records_were_late_by_and_did_not_pass_through() -> None:
    line = after_a_pause()
    found = Stretch.of(line)
    assert found is not None
    assert found.pause_s == pytest.approx(0.49, rel=0.01)
    assert found.phases_s == {"fetch": pytest.approx(0.01)}
    assert found.held_s == pytest.approx(float(line.latency["mean"]) - 0.01)


def test_the_silence_before_a_query_began_is_no_pause_of_it() -> None:
    assert Stretch.of(after_a_pause(began=1.0)) is None

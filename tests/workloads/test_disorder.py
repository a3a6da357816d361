"""Event times: in order by default, and as disordered and as late as was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from headway.workloads.makers.disorder import Disorder

MANY = 100_000


def test_without_disorder_times_advance_at_the_nominal_rate() -> None:
    times = Disorder(per_s=4, start_us=1_000).times_us(2, 5, seed=0)
    assert times.tolist() == [501_000, 751_000, 1_001_000]


def test_no_record_is_ahead_of_its_place_nor_behind_it_by_more_than_the_jitter() -> None:
    rough = Disorder(per_s=1_000, jitter="50ms")
    behind = Disorder(per_s=1_000).times_us(0, MANY, 1) - rough.times_us(0, MANY, 1)
    assert behind.min() >= 0
    assert behind.max() <= 50_000
    assert abs(behind.mean() - 25_000) < 500


def test_jitter_puts_records_out_of_order() -> None:
    times = Disorder(per_s=1_000, jitter="50ms").times_us(0, 1_000, 1)
    assert (np.diff(times) < 0).any()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_the_wanted_share_is_late_by_the_wanted_delay(share: float) -> None:
    late = Disorder(late_share=share, late_by="10min").times_us(0, MANY, 1)
    behind = Disorder().times_us(0, MANY, 1) - late
    assert set(np.unique(behind)) <= {0, 600_000_000}
    assert abs((behind > 0).mean() - share) < 0.005


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_s": 0},
        {"late_share": 1.5},
        {"late_share": -0.1},
        {"jitter": "2h"},
        {"jitter": "soon"},
        {"late_by": 5},
    ],
    ids=str,
)
def test_a_disorder_that_cannot_be_is_refused(wrong: dict[str, float | str]) -> None:
    with pytest.raises(ValueError, match="got"):
        Disorder(**wrong)  # type: ignore[arg-type]

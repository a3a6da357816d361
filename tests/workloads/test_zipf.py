"""Skewed choices follow Zipf's law, and exponent 0 is no skew at all."""

from __future__ import annotations

import numpy as np
import pytest

from headway.workloads.makers.chance import hash_numbers
from headway.workloads.makers.zipf import draw_ranks, skew

MANY = 200_000


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("size", [2, 1_000, 200_000])
def test_each_of_the_first_ranks_gets_the_share_of_zipfs_law(size: int, exponent: float) -> None:
    drawn = np.bincount(draw_ranks(hash_numbers(0, MANY, 3, "rank"), size, exponent))
    weights = np.arange(1, size + 1) ** -exponent
    shares = weights / weights.sum()
    for rank in range(min(size, 10)):
        spread = 5 * np.sqrt(MANY * shares[rank]) + 1
        assert abs(drawn[rank] - MANY * shares[rank]) <= spread


def test_the_guide_gives_the_same_ranks_as_a_search_for_every_number() -> None:
    hashes = hash_numbers(0, MANY, 0, "rank")
    table = skew(5_000, 1.0)
    searched = np.searchsorted(table.until, (hashes >> np.uint64(32)).astype(np.uint32), "right")
    assert (table.ranks(hashes) == searched).all()


def test_rare_ranks_are_reached_too() -> None:
    ranks = draw_ranks(hash_numbers(0, MANY, 0, "rank"), 100_000, 1.0)
    assert ranks.min() == 0
    assert 99_000 < ranks.max() < 100_000


def test_exponent_zero_makes_all_ranks_equally_likely() -> None:
    drawn = np.bincount(draw_ranks(hash_numbers(0, MANY, 0, "rank"), 10, 0.0), minlength=10)
    assert abs(drawn - MANY / 10).max() < 5 * np.sqrt(MANY / 10)


@pytest.mark.parametrize(("size", "exponent"), [(10, -1.0), (0, 0.0), (0, 1.0)])
def test_what_cannot_be_drawn_from_is_refused(size: int, exponent: float) -> None:
    with pytest.raises(ValueError, match="got"):
        draw_ranks(hash_numbers(0, 5, 0, "rank"), size, exponent)

"""Samples grow as they are asked to, and wrong wishes are refused with their cure."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.early.progress import Interval, coarsen
from headway.early.sampling import HASHES, Sampling, from_json, start_text, thresholds
from headway.errors import QueryError


@given(st.integers(1, 50), st.floats(0.5, 3))
def test_each_point_brings_its_share(points: int, growth: float) -> None:
    ends = [0, *thresholds(Sampling("row", points=points, growth=growth)), HASHES]
    sizes = [b - a for a, b in itertools.pairwise(ends)]
    assert len(sizes) == points
    assert sum(sizes) == HASHES
    for one, other in itertools.pairwise(sizes):
        assert abs(other - one * growth) <= 1 + growth


@given(st.integers(2, 50), st.floats(0.5, 3), st.floats(0.001, 0.9))
def test_the_first_point_brings_its_part_and_the_others_go_on_as_ever(
    points: int, growth: float, first: float
) -> None:
    ends = [0, *thresholds(Sampling("row", (), points, growth=growth, first=first)), HASHES]
    sizes = [b - a for a, b in itertools.pairwise(ends)]
    assert sum(sizes) == HASHES
    assert abs(sizes[0] - first * HASHES) <= 1
    for one, other in itertools.pairwise(sizes[1:]):
        assert abs(other - one * growth) <= 1 + growth


def test_a_single_point_has_everything_whatever_its_part() -> None:
    alone = Sampling("key", ("a",), 1, first=0.01)
    assert thresholds(alone) == []
    assert start_text(alone, ["a"], ["int"]) == "0"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kind": "chance"}, "a sample grows by"),
        ({"kind": "key"}, "by which column"),
        ({"kind": "row", "points": 0}, "points must be between"),
        ({"kind": "row", "growth": 0.0}, "growth must be between"),
        ({"kind": "row", "first": 1.0}, "between 0 and 1"),
        ({"kind": "row", "stay": 0}, "at least one point"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        Sampling(**wrong)  # type: ignore[arg-type]


def test_a_key_that_is_not_there_is_named() -> None:
    with pytest.raises(QueryError, match=r"no column `k`.*there are a, b"):
        start_text(Sampling("key", ("k",)), ["a", "b"], ["int", "string"])


def test_samples_that_begin_otherwise_are_no_match_for_a_join() -> None:
    one, other = (Sampling("key", ("k",), first=first) for first in (0.01, None))
    assert one.contract({"k": "int"}).function != other.contract({"k": "int"}).function


def test_another_seed_is_another_sample() -> None:
    one, other = (start_text(Sampling("key", ("k",), seed=n), ["k"], ["int"]) for n in (1, 2))
    assert one != other


def test_whole_numbers_of_all_sizes_are_hashed_alike() -> None:
    small = start_text(Sampling("key", ("k",)), ["k"], ["int"])
    large = start_text(Sampling("key", ("k",)), ["k"], ["bigint"])
    assert small == large


def test_a_manifest_keeps_the_whole_strategy() -> None:
    wanted = Sampling("key", ("a", "b"), 50, seed=3, growth=1.5, stay=4, first=0.02)
    assert from_json(wanted.as_json()) == wanted


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 50), st.integers(1, 50))
def test_a_join_holds_where_both_sides_hold(a: int, long: int, b: int, wide: int) -> None:
    one, other = Interval(a, a + long), Interval(b, b + wide)
    met = one.meet(other)
    for point in range(101):
        both = one.holds(point) and other.holds(point)
        assert both == (met is not None and met.holds(point))


@given(st.integers(0, 1000), st.integers(1, 20))
def test_a_batching_function_keeps_the_order_of_points(point: int, by: int) -> None:
    assert coarsen(point, by) <= coarsen(point + 1, by) <= coarsen(point, by) + 1

"""Chunks: every point once and in order, the first one soon, all of them within the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.early.chunks import (
    FASTEST_PER_S,
    Budget,
    Chunk,
    Size,
    Spent,
    buckets,
    next_chunk,
)

FIXED_S = 0.4


def played(points: int, full_s: float, budget: Budget) -> list[Spent]:
    """All chunks of a question whose full query takes `full_s` beyond what each job takes."""
    shares = tuple((n + 1) / points for n in range(points))
    size = Size(shares, int(full_s * FASTEST_PER_S))
    done: list[Spent] = []
    while (chunk := next_chunk(size, done, budget)) is not None:
        before = shares[chunk.first - 1] if budget.forgets and chunk.first else 0.0
        done.append(Spent(chunk, FIXED_S + full_s * (shares[chunk.last] - before)))
    return done


@given(st.integers(1, 200), st.floats(0, 1000), st.floats(1, 5))
def test_every_point_is_answered_once_and_in_order(points: int, full_s: float, most: float) -> None:
    done = played(points, full_s, Budget(most))
    assert [p for one in done for p in one.chunk.points] == list(range(points))
    assert done[0].chunk == Chunk(0, 0)


@given(st.integers(2, 200), st.floats(1, 1000), st.floats(1, 3))
def test_a_question_stays_within_its_budget_if_two_jobs_can(
    points: int, full_s: float, most: float
) -> None:
    spent_s = sum(one.measured_s for one in played(points, full_s, Budget(most)))
    least_s = sum(FIXED_S + full_s * share for share in (1 / points, 1.0))
    assert spent_s <= max(most * (full_s + FIXED_S), least_s) + FIXED_S + 1e-6


def test_a_larger_budget_gives_answers_in_between() -> None:
    assert len(played(100, 100.0, Budget(1.01))) == 2
    assert len(played(100, 100.0, Budget(2.0))) > 4


def test_where_points_are_forgotten_answers_come_often() -> None:
    every_one = played(100, 100.0, Budget(1.3, forgets=True))
    assert len(every_one) > len(played(100, 100.0, Budget(1.3)))
    assert sum(one.measured_s for one in every_one) <= 130


def test_a_quick_first_answer_does_not_make_later_ones_cheap() -> None:
    shares = tuple((n + 1) / 10 for n in range(10))
    size, budget = Size(shares, int(0.4 * FASTEST_PER_S)), Budget(1.3, forgets=True)
    first = Spent(Chunk(0, 0), 0.06)
    assert next_chunk(size, [first], budget) == Chunk(1, 9)
    assert next_chunk(size, [Spent(Chunk(0, 0), 0.02)], budget) == Chunk(1, 2)


def test_a_short_question_is_not_cut_up() -> None:
    assert len(played(100, 1.0, Budget(1.3))) == 2


@given(st.integers(1, 5000))
def test_stored_points_are_laid_out_in_few_buckets(points: int) -> None:
    laid = buckets(points)
    assert [p for one in laid for p in one.points] == list(range(points))
    assert len(laid) <= 20

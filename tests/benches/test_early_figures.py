"""What the bench of early answers says over all queries."""

from __future__ import annotations

from typing import Any

from headway.benches.early.early import figures_of, ratio


def row(sooner: float, cost: float, again: float) -> dict[str, Any]:
    return {
        "first_sooner": sooner, "total_cost": cost, "total_cost_100": 2 * cost,
        "total_cost_by_turns": cost + 0.5,
        "cheaper_than_again": again,
        "cheaper_than_again_laid_out": again / 2,
    }  # fmt: skip


def test_figures_are_medians_over_all_queries_and_the_worst_is_told() -> None:
    rows = {"q01": row(9.0, 1.1, 6.0), "q02": row(2.0, 2.5, 4.0), "q03": row(6.0, 0.9, 8.0)}
    found = figures_of(rows)
    assert (found["first_sooner_median"], found["total_cost_median"]) == (6.0, 1.1)
    assert (found["total_cost_worst"], found["total_cost_100_median"]) == (2.5, 2.2)
    assert (found["cheaper_than_again_median"], found["cheaper_than_again_worst"]) == (6.0, 4.0)
    assert found["cheaper_than_again_laid_out_median"] == 3.0
    turns = found["total_cost_by_turns_median"], found["total_cost_by_turns_worst"]
    assert turns == (1.6, 3.0)


def test_a_query_that_was_not_drawn_counts_where_it_was_asked_and_nowhere_else() -> None:
    rows = {
        "q01": row(9.0, 1.1, 6.0),
        "q02": {"first_sooner": 2.0, "total_cost": 2.5, "total_cost_by_turns": 2.0},
    }
    found = figures_of(rows)
    assert (found["first_sooner_median"], found["total_cost_worst"]) == (5.5, 2.5)
    assert (found["total_cost_100_median"], found["cheaper_than_again_median"]) == (2.2, 6.0)


def test_a_ratio_is_of_times_that_were_measured_side_by_side() -> None:
    assert ratio([2.0, 9.0, 4.0], [1.0, 3.0, 4.0]) == 2.0

"""What the benches of the model draw, from figures as they leave them."""

from __future__ import annotations

from typing import Any

from headway.benches.foretold.figures import AT_ONCE_S, line_of, place_of, rivals, validity


def row(
    rate: float, every: float, late_s: float | None, kept: bool, planned: bool = False
) -> dict[str, Any]:
    return {
        "rate_per_s": rate, "interval_s": every, "measured_s": late_s, "kept": kept,
        "planned": planned,
    }  # fmt: skip


def test_a_map_shows_what_keeps_the_goal_and_where_the_plan_stands() -> None:
    rows = [row(1e3, 0.5, 0.4, True), row(1e4, 0.5, 2.0, False), row(5e3, 0.0, 0.3, True, True)]
    drawn = validity({"goal": "p99 <= 1s", "measured": rows})
    assert [name in drawn for name in ("keeps the goal", "misses it", "the plan, kept")] == [
        True
    ] * 3
    assert "the plan, missed" not in drawn
    assert drawn.count("<circle") == 3
    assert place_of(rows[2]) == (5e3, AT_ONCE_S)


def test_what_fell_behind_is_no_point_of_a_curve() -> None:
    rules = [row(2e3, 0.5, 0.9, True), row(1e3, 0.5, 0.7, True), row(4e3, 0.5, None, False)]
    assert line_of(rules) == ((1e3, 0.7), (2e3, 0.9))
    drawn = rivals({"goal": "p99 <= 1s", "plans": [row(1e3, 0.3, 0.6, True)], "rules": rules})
    assert drawn.count("<polyline") == 2
    assert "every 0.5 s" in drawn

"""Goals as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import GoalError
from headway.flow.goals import Goal, parse_goal


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("mean <= 500ms", Goal(None, 0.5)),
        ("p99 <= 1s", Goal(0.99, 1.0)),
        ("p99.9<=2s", Goal(0.999, 2.0)),
        ("p50 < 20 ms per record", Goal(0.5, 0.02)),
        ("p99 <= 3s per window", Goal(0.99, 3.0, "window")),
    ],
)
def test_a_goal_is_read(text: str, goal: Goal) -> None:
    assert parse_goal(text) == goal


@pytest.mark.parametrize(
    "text", ["p99", "p99 <= 1", "fast", "p0 <= 1s", "p99 <= 0s", "p99 >= 1s", ""]
)
def test_what_is_no_goal_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(GoalError, match="goal"):
        parse_goal(text)


@given(st.integers(1, 99), st.integers(1, 10_000), st.sampled_from(["record", "window"]))
def test_a_goal_reads_back_as_it_is_written(percent: int, millis: int, per: str) -> None:
    goal = parse_goal(f"p{percent} <= {millis}ms per {per}")
    again = parse_goal(str(goal))
    assert (again.quantile, again.per) == (goal.quantile, goal.per)
    assert again.limit_s == pytest.approx(goal.limit_s, rel=1e-3)


def test_a_goal_is_met_up_to_its_limit() -> None:
    assert parse_goal("p99 <= 1s").met_by(1.0)
    assert not parse_goal("p99 <= 1s").met_by(1.001)

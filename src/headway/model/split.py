"""A goal for a flow of several pairs, as a goal for each (paper 1, end of section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping


def split_goal(goal_s: float, predicted_s: Mapping[str, float]) -> dict[str, float]:
    """Share a goal among stages, in proportion to what each is predicted to take.

    The parts add up to the goal, so a stage inside its part never spends time that another was
    promised. Quantiles of a sum are at most the sum of quantiles for stages that are late together,
    so parts that are kept keep the whole.

    >>> split_goal(2.0, {"parse": 0.25, "window": 0.75})
    {'parse': 0.5, 'window': 1.5}
    >>> split_goal(1.0, {"a": 0.0, "b": 0.0})
    {'a': 0.5, 'b': 0.5}
    """
    whole_s = sum(predicted_s.values())
    if whole_s <= 0:
        return {name: goal_s / len(predicted_s) for name in predicted_s}
    return {name: goal_s * part_s / whole_s for name, part_s in predicted_s.items()}

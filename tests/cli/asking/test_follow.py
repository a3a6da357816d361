"""A question is followed to its final answer, or until it is stable or stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from headway.cli.asking.curves import asked_of, curves_of
from headway.cli.asking.follow import Followed, Seen, ending_text, follow
from headway.clock import SystemClock
from headway.early.progress import FROM, UNTIL
from headway.engine.early.answers import Answer, Shape

SHAPE = Shape(("name", "n"))


def answers(values: Sequence[int], progress: Sequence[float]) -> list[Answer]:
    """Answers of one row, whose number is another at each point."""
    return [
        Answer(point, len(values), progress[point], rows(point, value), SHAPE)
        for point, value in enumerate(values)
    ]


def rows(point: int, value: int) -> pa.Table:
    return pa.table({"c0": ["a"], "c1": [value], FROM: [point], UNTIL: [point + 1]})


def followed(made: list[Answer], until: float | None = None) -> Followed:
    return follow(made, lambda _: None, SystemClock(), until)


def test_every_answer_is_told_up_to_the_final_one() -> None:
    told: list[Seen] = []
    found = follow(answers([1, 2, 3], [0.2, 0.5, 1.0]), told.append, SystemClock(), None)
    assert tuple(told) == found.seen
    assert [seen.table.to_pylist()[0]["n"] for seen in told] == [1, 2, 3]
    assert ending_text(found) == "the final answer, over all tuples"


def test_it_stops_at_the_first_answer_that_moved_little() -> None:
    found = followed(answers([50, 90, 91, 99], [0.2, 0.4, 0.6, 1.0]), 0.05)
    assert found.last.point == 2
    assert ending_text(found) == "stable at point 3 of 4, 60% of the tuples: it moved 1.1%"


def test_standing_still_while_no_tuple_came_is_not_stable() -> None:
    found = followed(answers([50, 50, 90, 99], [0.2, 0.2, 0.6, 1.0]), 0.05)
    assert (found.last.point, found.ending) == (3, "final")


def test_ctrl_c_ends_with_the_answer_that_is_there() -> None:
    def interrupted(count: int) -> Iterator[Answer]:
        yield from answers([1, 2, 3], [0.2, 0.5, 1.0])[:count]
        raise KeyboardInterrupt

    found = follow(interrupted(1), lambda _: None, SystemClock(), None)
    assert ending_text(found) == "stopped at point 1 of 3, 20% of the tuples"
    with pytest.raises(KeyboardInterrupt):
        follow(interrupted(0), lambda _: None, SystemClock(), None)


def test_curves_follow_the_top_rows_of_the_last_answer_back() -> None:
    def seen(point: int, names: list[str], sums: list[int]) -> Seen:
        return Seen(point, 2, (point + 1) / 2, pa.table({"name": names, "s": sums}), 1.0)

    told = (seen(0, ["b"], [3]), seen(1, ["a", "b"], [9, 4]))
    measure, curves = curves_of(told)
    assert measure == "s"
    assert [(curve.name, curve.values) for curve in curves] == [("a", (None, 9)), ("b", (3, 4))]
    asked = asked_of("SELECT", Followed(told, "final"), "scan", most_rows=1)
    assert asked.rows == (("a", "9"),)
    assert [one.rows for one in asked.answered] == [1, 2]

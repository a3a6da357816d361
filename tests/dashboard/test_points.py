"""Points hold every batch, and the worst of each group is never hidden."""

from __future__ import annotations

import numpy as np

from headway.dashboard.points import by_query, points_of
from headway.testing.logs import START_S, made_line, made_lines


def test_a_short_run_has_a_point_for_each_batch() -> None:
    lines = made_lines(20)
    points = points_of(lines, START_S, frozenset({0, 1}))
    assert [p.first_batch for p in points] == [p.last_batch for p in points] == list(range(20))
    assert [p.warm for p in points[:3]] == [True, True, False]
    assert points[4].p99_s == lines[4].latency["p99"]


def test_a_long_run_is_drawn_with_the_worst_of_each_group() -> None:
    lines = made_lines(50)
    points = points_of(lines, START_S, frozenset(), most=10)
    assert len(points) == 10
    assert points[0].p99_s == max(line.latency["p99"] for line in lines[:5])
    assert sum(p.quarantined for p in points) == sum(line.quarantined for line in lines)


def test_a_batch_without_records_has_no_latency() -> None:
    (point,) = points_of([made_line(np.empty(0), START_S)], START_S, frozenset())
    assert point.p50_s is None
    assert point.window_max_s is None


def test_lines_are_told_apart_by_query_and_ordered_by_batch() -> None:
    mixed = [*made_lines(3, query="b")[::-1], *made_lines(2, query="a")]
    found = by_query(mixed)
    assert {query: [line.batch for line in own] for query, own in found.items()} == {
        "a": [0, 1],
        "b": [0, 1, 2],
    }

"""Positions of a topic: moved forward, shared out, never lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.engine.topics.port import advance, count_between, share_out

POSITIONS = st.dictionaries(
    st.integers(0, 5).map(str), st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1
)


@given(POSITIONS, st.none() | st.integers(0, 120))
def test_an_advance_takes_just_what_it_may(
    spans: dict[str, tuple[int, int]], rows: int | None
) -> None:
    start = {p: first for p, (first, _) in spans.items()}
    reach = {p: first + more for p, (first, more) in spans.items()}
    end = advance(start, reach, rows)
    waiting = count_between(start, reach)
    assert count_between(start, end) == (waiting if rows is None else min(rows, waiting))
    assert all(start[p] <= end[p] <= reach[p] for p in start)


@given(POSITIONS)
def test_a_reach_that_shrank_moves_nothing_back(spans: dict[str, tuple[int, int]]) -> None:
    start = {p: first + more for p, (first, more) in spans.items()}
    reach = {p: first for p, (first, _) in spans.items()}
    assert advance(start, reach, None) == dict(sorted(start.items()))


@given(POSITIONS, st.integers(1, 7))
def test_shares_hold_each_record_once(spans: dict[str, tuple[int, int]], readers: int) -> None:
    start = {p: first for p, (first, _) in spans.items()}
    end = {p: first + more for p, (first, more) in spans.items()}
    shares = share_out(start, end, readers)
    held = [
        (piece.partition, offset)
        for share in shares
        for piece in share
        for offset in range(piece.first, piece.stop)
    ]
    wanted = {(p, offset) for p in end for offset in range(start[p], end[p])}
    assert len(held) == len(wanted)
    assert set(held) == wanted
    assert len(shares) <= readers

"""Sessions by the pair equal sessions cut by hand, and no click is lost or told twice."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.workloads.makers.clicks import Clicks
from headway.workloads.makers.disorder import Disorder
from headway.workloads.registry import WORKLOADS
from headway.workloads.sessions import Sessions, user_sessions

from .driver import Record, run_pair

TIMES = st.lists(st.integers(0, 300))


def clicks_at(*times: float, user: str = "ann") -> list[Record]:
    return [(float(time), {"user": user}) for time in times]


def instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def cut_by_hand(times: list[float], gap_s: float) -> list[tuple[int, datetime, float]]:
    """The sessions of one user's clicks in order, the last and still open one left out."""
    sessions: list[list[float]] = []
    for time in times:
        if sessions and time - sessions[-1][-1] <= gap_s:
            sessions[-1].append(time)
        else:
            sessions.append([time])
    return [(len(s), instant(s[0]), s[-1] - s[0]) for s in sessions[:-1]]


def test_a_session_is_told_by_the_first_click_after_the_gap() -> None:
    answers, states = run_pair(Sessions("30s"), clicks_at(0, 20, 50, 80.5))
    #  0    20        50              80.5
    #  c----c---------c     > 30 s     c
    assert answers == [(80.5, "ann", (3, instant(0), 50.0))]
    assert states == {"ann": (80.5, 80.5, 1)}


def test_a_pause_of_exactly_the_gap_ends_nothing() -> None:
    assert run_pair(Sessions("30s"), clicks_at(0, 30, 60))[0] == []


@given(st.integers(0, 2_000_000_000_000_000))
def test_the_gap_is_kept_to_the_microsecond(first_us: int) -> None:
    times = (first_us / 1e6, (first_us + 100_000) / 1e6, (first_us + 200_001) / 1e6)
    answers, states = run_pair(Sessions("100ms"), clicks_at(*times))
    assert [value[2] for _, _, value in answers] == [0.1]
    assert len(states) == 1


def test_clicks_out_of_order_extend_a_session_at_either_end() -> None:
    answers, _ = run_pair(Sessions("30s"), clicks_at(50, 70, 60, 25, 200))
    assert answers == [(200.0, "ann", (4, instant(25), 45.0))]


def test_a_click_older_than_the_session_by_more_than_the_gap_is_a_session_of_its_own() -> None:
    answers, states = run_pair(Sessions("30s"), clicks_at(100, 20, 110))
    assert answers == [(20.0, "ann", (1, instant(20), 0.0))]
    assert states == {"ann": (100.0, 110.0, 2)}


@given(TIMES)
def test_clicks_in_order_give_the_sessions_that_a_hand_would_cut(times: list[int]) -> None:
    ordered = sorted(float(time) for time in times)
    answers, _ = run_pair(Sessions("10s"), clicks_at(*ordered))
    assert [value for _, _, value in answers] == cut_by_hand(ordered, 10.0)


@given(TIMES)
def test_clicks_told_and_clicks_in_open_sessions_add_up_in_any_order(times: list[int]) -> None:
    answers, states = run_pair(Sessions("10s"), clicks_at(*times))
    told = sum(value[0] for _, _, value in answers)
    assert told + sum(clicks for _, _, clicks in states.values()) == len(times)


def test_users_are_kept_apart() -> None:
    rows = Clicks(keys=20, disorder=Disorder(per_s=0.02)).make(0, 2_000).to_pylist()
    records: list[Record] = [(row["time"].timestamp(), row) for row in rows]
    answers, _ = run_pair(Sessions(), records)
    by_user: dict[Any, list[Any]] = {}
    for _, user, value in answers:
        by_user.setdefault(user, []).append(value)
    ordered = sorted(records, key=lambda record: record[1]["user"])
    for user, clicks in groupby(ordered, key=lambda record: record[1]["user"]):
        assert by_user.get(user, []) == cut_by_hand([time for time, _ in clicks], 1_800.0)
    assert len(answers) > 100


def test_the_workload_ends_sessions_in_event_time() -> None:
    source = WORKLOADS["sessions"].source(rate=100)
    assert user_sessions(source).columns == ("time", "key", "clicks", "start", "seconds")
    rows = WORKLOADS["sessions"].maker.make(0, 60_000).to_pylist()
    answers, _ = run_pair(Sessions(), [(row["time"].timestamp(), row) for row in rows])
    assert len(answers) > 1_000


def test_a_pair_in_use_pickles() -> None:
    pair = Sessions("5min")
    run_pair(pair, clicks_at(1, 2))
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert pair != Sessions("6min")


@pytest.mark.parametrize("gap", ["0s", "soon"])
def test_a_gap_that_is_none_is_refused(gap: str) -> None:
    with pytest.raises(ValueError, match="got"):
        Sessions(gap)

"""Aggregates of keys and windows, and how little the cut into batches matters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine.reference.run import Arrived, Batch, one_by_one, run_flow
from headway.errors import FlowError, RunError
from headway.flow.graph import Flow
from headway.flow.sources import replay

SCHEMA = "at double, user string, size bigint, price double"


def source() -> Any:
    return replay([], schema=SCHEMA, time="at", name="clicks")


def click(user: str | None, size: int | None = 1, at: float = 1.0) -> Arrived:
    price = None if size is None else size / 10
    return Arrived(round(at * 1e6), 0, {"at": at, "user": user, "size": size, "price": price})


def rows(flow: Flow, *batches: Sequence[Arrived]) -> list[tuple[int, dict[str, Any]]]:
    made = [Batch({"clicks": batch}) for batch in batches]
    return [(answer.batch, answer.row) for answer in run_flow(flow, None, made).answers]


def test_each_batch_answers_the_keys_that_it_touched_and_no_other() -> None:
    flow = source().key("user").reduce(n="count(*)", total="sum(size)").to("console")
    assert rows(flow, [click("ann", 2), click("bob"), click("ann", 3)], [click("bob", 4)], []) == [
        (0, {"user": "ann", "n": 2, "total": 5}),
        (0, {"user": "bob", "n": 1, "total": 1}),
        (1, {"user": "bob", "n": 2, "total": 5}),
    ]


def test_null_keys_are_one_group() -> None:
    flow = source().key("user").reduce(n="count(*)").to("console")
    assert rows(flow, [click(None), click("a"), click(None)]) == [
        (0, {"user": None, "n": 2}),
        (0, {"user": "a", "n": 1}),
    ]


def test_without_a_key_all_records_are_one_group() -> None:
    flow = source().reduce(n="count(*)", mean="avg(size)").to("console")
    assert rows(flow, [click("a", 1)], [click("b", 2)]) == [
        (0, {"n": 1, "mean": 1.0}),
        (1, {"n": 2, "mean": 1.5}),
    ]


def test_an_aggregate_may_be_an_expression_over_aggregates_and_the_key() -> None:
    flow = (
        source()
        .key("user")
        .reduce(share="count(*) filter (where size > 1) / count(*)", who="max(size) || user")
        .to("console")
    )
    assert rows(flow, [click("a", 1), click("a", 3)]) == [
        (0, {"user": "a", "share": 0.5, "who": "3a"})
    ]


def test_nan_is_one_key_and_so_is_either_zero() -> None:
    flow = source().map("price", key="price").reduce(n="count(*)").to("console")
    prices = [math.nan, math.nan, 0.0, -0.0]
    batch = [Arrived(0, 0, {"at": 1.0, "price": price}) for price in prices]
    assert [row["n"] for _, row in rows(flow, batch)] == [2, 2]


def test_steps_before_and_after_an_aggregate_see_one_record_at_a_time() -> None:
    flow = (
        source()
        .filter("size > 0")
        .map("explode(split(user, ' ')) AS word", "size * 2 AS twice", key="word")
        .reduce(total="sum(twice)")
        .filter("total >= 4")
        .map("upper(word) AS word", "total")
        .to("console")
    )
    batch = [click("a b", 1), click("a", 1), click("b", None), click(None, 9), click("c", -5)]
    assert rows(flow, batch) == [(0, {"word": "A", "total": 4})]


def test_explode_outer_keeps_a_record_that_explode_drops() -> None:
    outer = source().map("user", "explode_outer(split(user, ' ')) AS word").to("console")
    inner = source().map("user", "explode(split(user, ' ')) AS word").to("console")
    assert rows(outer, [click(None)]) == [(0, {"user": None, "word": None})]
    assert rows(inner, [click(None)]) == []


def test_a_star_expands_to_all_columns() -> None:
    flow = source().map("*", "size + 1 AS more").to("console")
    ((_, row),) = rows(flow, [click("a", 2)])
    assert row == {"at": 1.0, "user": "a", "size": 2, "price": 0.2, "more": 3}


@pytest.mark.parametrize(
    ("aggregate", "says"),
    [
        ("first(size)", "order"),
        ("collect_list(size)", "order"),
        ("approx_count_distinct(size)", "estimates"),
    ],
)
def test_an_aggregate_without_one_right_answer_is_refused(aggregate: str, says: str) -> None:
    flow = source().reduce(x=aggregate).to("console")
    with pytest.raises(FlowError, match=says):
        rows(flow, [])


def test_a_tie_of_max_by_is_refused_when_its_values_differ() -> None:
    flow = source().reduce(who="max_by(user, size)").to("console")
    assert rows(flow, [click("a", 1), click("b", 2), click("b", 2)]) == [(0, {"who": "b"})]
    with pytest.raises(RunError, match="tie at 2 between 'b' and 'c'"):
        rows(flow, [click("b", 2), click("c", 2)])


def test_an_unknown_function_is_refused_by_name() -> None:
    flow = source().map("soundex(user) AS sound").to("console")
    with pytest.raises(FlowError, match=r"does not know the function soundex\(\)"):
        rows(flow, [])


def test_an_expression_that_fails_shows_the_record() -> None:
    flow = source().map("1 / size AS share").to("console")
    with pytest.raises(RunError, match=r"'1 / size AS share' failed on record .*'size': 0"):
        rows(flow, [click("a", 0)])


def test_a_sink_must_be_named_where_there_are_several() -> None:
    flow = source().to("console")
    with pytest.raises(FlowError, match="name one of console"):
        run_flow(flow, "elsewhere", [])


clicks = st.lists(
    st.builds(
        click,
        st.sampled_from(["ann", "bob", None]),
        st.none() | st.integers(-100, 100),
        st.integers(1, 60_000).map(lambda ms: ms / 1_000),
    ),
    max_size=30,
)
cuts = st.lists(st.integers(0, 30), max_size=6)


def cut(records: Sequence[Arrived], places: Sequence[int]) -> list[Batch]:
    """Records in batches that end at the given places."""
    edges = [0, *sorted(min(place, len(records)) for place in places), len(records)]
    parts = [records[a:b] for a, b in itertools.pairwise(edges)]
    return [Batch({"clicks": part}) for part in parts]


@given(clicks, cuts)
def test_the_last_answer_of_a_key_does_not_depend_on_the_cut_into_batches(
    records: list[Arrived], places: list[int]
) -> None:
    flow = (
        source()
        .key("user")
        .reduce(n="count(size)", s="sum(price)", m="max(size)", v="stddev(price)")
        .to("console")
    )

    def last_answers(batches: list[Batch]) -> dict[Any, dict[str, Any]]:
        return {a.row["user"]: a.row for a in run_flow(flow, None, batches).answers}

    assert last_answers(cut(records, places)) == last_answers(one_by_one("clicks", records))


@given(clicks, cuts)
def test_windows_do_not_depend_on_the_cut_when_nothing_is_late(
    records: list[Arrived], places: list[int]
) -> None:
    # No record is older than another by more than a minute, so two minutes lose none.
    windowed = source().key("user").window("10s", "5s", lateness="2min")
    flow = windowed.reduce(n="count(*)", s="sum(price)").to("console")

    def answered(batches: list[Batch]) -> list[str]:
        outcome = run_flow(flow, None, batches)
        assert outcome.set_aside == ()
        return sorted(repr(answer.row) for answer in outcome.answers)

    assert answered(cut(records, places)) == answered(one_by_one("clicks", records))


@given(clicks, cuts)
def test_every_record_is_in_one_tumbling_window_or_set_aside(
    records: list[Arrived], places: list[int]
) -> None:
    flow = source().key("user").window("10s").reduce(n="count(*)").to("console")
    outcome = run_flow(flow, None, cut(records, places))
    answered = sum(answer.row["n"] for answer in outcome.answers)
    assert answered + len(outcome.set_aside) == len(records)
    places_answered = [(a.row["user"], a.row["window_end"]) for a in outcome.answers]
    assert len(set(places_answered)) == len(places_answered), "a window was answered twice"

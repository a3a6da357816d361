"""Python pairs: order, windows, declared types, and what becomes of a record that fails."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headway.engine.reference.run import Arrived, Batch, Outcome, one_by_one, run_flow
from headway.errors import PairError
from headway.flow.graph import Flow
from headway.flow.pairs import Pair, WindowPair
from headway.flow.sources import replay


class Changes(Pair):
    """Emits a user's page when it differs from the one before."""

    emits = "page string, visits double"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Iterator[tuple[float, Any, Any]]:
        yield time, value["user"], value["page"]

    def update(self, time: float, key: Any, value: Any, state: Any) -> tuple[Any, list[Any]]:
        before, visits = state or (None, 0)
        if value == "boom":
            raise ValueError("no such page")
        out = [(time, key, (value, visits + 1))] if value != before else []
        return (value, visits + 1), out


class Gathered(WindowPair):
    """The pages of a user in a window, in the order they came."""

    emits = "pages array<string>"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Iterator[tuple[float, Any, Any]]:
        if value["page"] == "unmapped":
            raise KeyError("unmapped")
        yield time, key, value["page"]

    def init(self, key: Any, wtime: float) -> Any:
        return []

    def update(self, time: float, key: Any, wtime: float, value: Any, state: Any) -> Any:
        state.append(value)
        if value == "boom" or (value == "boom at 20" and wtime == 20.0):
            raise ValueError("no such page")
        return state

    def finalize(self, key: Any, wtime: float, state: Any) -> list[Any]:
        if "broken" in state:
            raise RuntimeError("cannot finish")
        return [(wtime, key, state)]


def visit(at_s: float, user: str, page: str, seq: int = 0) -> Arrived:
    return Arrived(round(at_s * 1e6), seq, {"user": user, "page": page})


def visits() -> Any:
    return replay([], schema="user string, page string", name="visits").key("user")


def changes(on_error: Any = "stop") -> Flow:
    flow: Flow = visits().pair(Changes(), on_error=on_error).to("console")
    return flow


def gathered(on_error: Any = "quarantine", slide: str = "10s") -> Flow:
    stream = visits().window("20s" if slide == "10s" else slide, slide)
    flow: Flow = stream.pair(Gathered(), on_error=on_error).to("console")
    return flow


def pages(outcome: Outcome) -> list[tuple[float, str, list[str]]]:
    rows = [answer.row for answer in outcome.answers]
    return sorted((row["time"].timestamp(), row["key"], row["pages"]) for row in rows)


def test_records_reach_a_pair_in_order_of_arrival_and_place() -> None:
    batch = [visit(2, "a", "z", 1), visit(2, "a", "y", 0), visit(1, "a", "x")]
    outcome = run_flow(changes(), None, [Batch({"visits": batch})])
    assert [answer.row["page"] for answer in outcome.answers] == ["x", "y", "z"]


def test_answers_have_a_time_a_key_and_the_declared_columns_in_their_types() -> None:
    (answer,) = run_flow(changes(), None, one_by_one("visits", [visit(1.5, "a", "x")])).answers
    assert answer.row == {
        "time": datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC),
        "key": "a",
        "page": "x",
        "visits": 1.0,
    }
    assert isinstance(answer.row["visits"], float)


def test_state_is_kept_from_batch_to_batch() -> None:
    records = [visit(1, "a", "x"), visit(2, "a", "x"), visit(3, "b", "x"), visit(4, "a", "y")]
    outcome = run_flow(changes(), None, one_by_one("visits", records))
    found = [(answer.batch, answer.row["key"], answer.row["visits"]) for answer in outcome.answers]
    assert found == [(0, "a", 1.0), (2, "b", 1.0), (3, "a", 3.0)]


def test_a_pair_that_raises_stops_the_run_and_names_the_record() -> None:
    records = [visit(1, "a", "x"), visit(2, "a", "boom")]
    with pytest.raises(PairError, match=r"Changes.update raised for key 'a' on record 'boom'"):
        run_flow(changes(), None, one_by_one("visits", records))


def test_a_quarantined_record_leaves_the_state_as_it_was() -> None:
    records = [visit(1, "a", "x"), visit(2, "a", "boom"), visit(3, "a", "y")]
    outcome = run_flow(changes("quarantine"), None, one_by_one("visits", records))
    assert [answer.row["visits"] for answer in outcome.answers] == [1.0, 2.0]
    (gone,) = outcome.set_aside
    assert (gone.reason, gone.key, gone.record) == ("failed", "a", "boom")
    assert "ValueError" in gone.detail


def test_what_a_pair_emits_must_fit_its_declaration() -> None:
    class Wrong(Pair):
        emits = "n bigint"

        def update(self, time: float, key: Any, value: Any, state: Any) -> tuple[Any, list[Any]]:
            return None, [(time, key, "text")]

    flow = visits().pair(Wrong()).to("console")
    with pytest.raises(PairError, match=r"Wrong.update raised"):
        run_flow(flow, None, one_by_one("visits", [visit(1, "a", "x")]))


def test_several_key_columns_make_a_tuple_and_none_makes_none() -> None:
    class Keys(Pair):
        emits = "shown string"

        def map(self, time: float, key: Any, value: Any) -> list[tuple[float, Any, Any]]:
            return [(time, "all", repr(key))]

        def update(self, time: float, key: Any, value: Any, state: Any) -> tuple[Any, list[Any]]:
            return state, [(time, key, value)]

    def shown(stream: Any) -> str:
        batches = one_by_one("visits", [visit(1, "a", "x")])
        (answer,) = run_flow(stream.pair(Keys()).to("console"), None, batches).answers
        return str(answer.row["shown"])

    plain = replay([], schema="user string, page string", name="visits")
    assert shown(plain.key("user", "page")) == "('a', 'x')"
    assert shown(plain.key("user")) == "'a'"
    assert shown(plain) == "None"


def test_a_window_pair_answers_each_window_once_it_has_closed() -> None:
    # 0         10        20        30
    # (-------------------]               x y
    #           (-------------------]       y z
    #       x       y         z
    records = [visit(6, "a", "x"), visit(15, "a", "y"), visit(25, "a", "z")]
    outcome = run_flow(gathered(), None, one_by_one("visits", records))
    assert pages(outcome) == [
        (10.0, "a", ["x"]),
        (20.0, "a", ["x", "y"]),
        (30.0, "a", ["y", "z"]),
        (40.0, "a", ["z"]),
    ]
    assert {answer.batch for answer in outcome.answers} == {2, 3}


def test_the_time_that_a_map_emits_decides_the_window() -> None:
    class Later(Gathered):
        def map(self, time: float, key: Any, value: Any) -> Iterator[tuple[float, Any, Any]]:
            yield time + 100, key, value["page"]

    flow = visits().window("10s").pair(Later()).to("console")
    outcome = run_flow(flow, None, one_by_one("visits", [visit(1, "a", "x")]))
    assert pages(outcome) == [(110.0, "a", ["x"])]


def test_a_record_fails_in_all_of_its_windows_or_in_none() -> None:
    # 0         10        20        30
    # (-------------------]                fails here
    #           (-------------------]      and so must not count here
    #                  x
    records = [visit(12, "a", "x"), visit(15, "a", "boom at 20")]
    outcome = run_flow(gathered(), None, [Batch({"visits": records})])
    assert pages(outcome) == [(20.0, "a", ["x"]), (30.0, "a", ["x"])]
    assert [(gone.reason, gone.record) for gone in outcome.set_aside] == [("failed", "boom at 20")]


def test_a_map_that_raises_sets_the_input_record_aside() -> None:
    outcome = run_flow(gathered(), None, one_by_one("visits", [visit(1, "a", "unmapped")]))
    assert outcome.answers == ()
    assert [gone.record for gone in outcome.set_aside] == [{"user": "a", "page": "unmapped"}]


def test_a_finalize_that_raises_sets_the_state_aside_as_unfinished() -> None:
    records = [visit(1, "a", "broken"), visit(2, "b", "x")]
    outcome = run_flow(gathered(slide="5s"), None, [Batch({"visits": records})])
    assert pages(outcome) == [(5.0, "b", ["x"])]
    (gone,) = outcome.set_aside
    assert (gone.reason, gone.key, gone.record) == ("unfinished", "a", ["broken"])


def test_records_of_merged_sources_meet_in_order_of_arrival() -> None:
    schema = "user string, page string"
    left = replay([], schema=schema, name="left")
    right = replay([], schema=schema, name="right")
    flow = left.merge(right).key("user").pair(Changes()).to("console")
    batch = Batch({"left": [visit(2, "a", "y")], "right": [visit(1, "a", "x"), visit(3, "a", "z")]})
    outcome = run_flow(flow, None, [batch])
    assert [answer.row["page"] for answer in outcome.answers] == ["x", "y", "z"]

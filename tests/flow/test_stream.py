"""Building a flow: what it holds, and how each mistake is named at once."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import pytest

import headway as hw
from headway import errors
from headway.errors import FlowError, HeadwayError
from headway.flow.steps import Merge, Reduce
from headway.flow.stream import Stream
from headway.flow.topics import EventTime
from headway.workloads.makers.keyed import Keyed

RECORDS = [{"text": "a b", "size": 1, "at": 1.5}]


def tweets() -> Stream:
    return hw.replay(RECORDS, name="tweets")


def test_a_flow_is_data_in_flow_order() -> None:
    flow = (
        tweets()
        .map("explode(split(text, ' ')) AS word", key="word")
        .window("30s", slide="10s")
        .reduce(n="count(*)")
        .to("console")
    )
    assert [type(step).__name__ for step in flow.steps] == ["Source", "Map", "Reduce", "Sink"]
    reduce = flow.stateful()[0]
    assert isinstance(reduce, Reduce)
    assert reduce.key == ("word",)
    assert reduce.window is not None
    assert (reduce.window.size_us, reduce.window.slide_us) == (30_000_000, 10_000_000)


def test_a_state_lives_until_its_window_is_final_and_without_windows_for_ever() -> None:
    keyed = tweets().key("text")
    windowed = keyed.window("30s", slide="10s", lateness="5s").reduce(n="count(*)").to("console")
    assert windowed.lives_s == 35.0
    assert keyed.reduce(n="count(*)").to("console").lives_s == math.inf
    assert tweets().map("size").to("console").lives_s == math.inf


def test_building_a_flow_starts_no_jvm_and_imports_no_spark() -> None:
    code = (
        "import sys, headway as hw\n"
        "hw.replay([{'a': 1}]).key('a').reduce(n='count(*)').to('console')\n"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


MISTAKES = {
    "an unknown column": (lambda: tweets().map("nope AS a"), "'nope'.*text, size, at"),
    "an unknown column in a filter": (lambda: tweets().filter("x > 1"), "'x'.*not there"),
    "an unknown key": (lambda: tweets().map("text", key="word"), "key 'word'.*text"),
    "a key twice": (lambda: tweets().key("text", "text"), "distinct"),
    "a window of no size": (lambda: tweets().window("0s"), "must be positive; got '0s'"),
    "a window without a unit": (lambda: tweets().window("30"), "number with a unit.*'30'"),
    "a slide of nothing": (lambda: tweets().window("1s", slide="0s"), "slide must be positive"),
    "a slide beyond the size": (lambda: tweets().window("1s", slide="2s"), "at most the size"),
    "a window of microseconds": (lambda: tweets().window("10us"), "whole milliseconds"),
    "a window that nobody uses": (lambda: tweets().window("1s").to("console"), "reduce or pair"),
    "SQL that does not parse": (lambda: tweets().map("a +* b AS c"), "does not parse"),
    "two expressions in one": (lambda: tweets().map("text, size"), "not one SQL expression"),
    "an expression without a name": (lambda: tweets().map("size + 1"), "add AS name"),
    "a column made twice": (lambda: tweets().map("text", "size AS text"), "'text' twice"),
    "an aggregate in a map": (lambda: tweets().map("count(*) AS n"), "reduce"),
    "a reduce that does not aggregate": (lambda: tweets().reduce(n="size"), "not an aggregate"),
    "a reduce of nothing": (lambda: tweets().reduce(), "at least one aggregate"),
    "an aggregate named as its key": (
        lambda: tweets().key("text").reduce(text="count(*)"), "name of another column",
    ),
    "a second reduce": (
        lambda: tweets().reduce(n="count(*)").reduce(m="count(*)"), "one stateful step",
    ),
    "chance": (lambda: tweets().map("rand() AS r"), r"rand\(\).*replayed"),
    "the clock": (lambda: tweets().map("current_timestamp() AS r"), "replayed"),
    "the present as a text": (lambda: tweets().map("date 'today' AS d"), "'today'.*replayed"),
    "a window function": (lambda: tweets().map("count(*) OVER () AS n"), "uses OVER"),
    "a generator of several columns": (
        lambda: tweets().map("posexplode(split(text, ' ')) AS p"), "several columns",
    ),
    "a subquery": (lambda: tweets().map("(SELECT 1) AS one"), "subquery"),
    "a maker without an end": (lambda: hw.replay(Keyed()), "a rate, a count"),
    "a sink that is none": (lambda: tweets().to("tape"), "'tape' is not known"),
    "a sink without a folder": (lambda: tweets().to("parquet:"), "needs a folder"),
    "columns that do not line up": (
        lambda: tweets().map("text").merge(tweets().map("size")), "same columns",
    ),
    "a time that is no column": (lambda: hw.replay(RECORDS, time="when"), "'when' is not there"),
    "a time that is text": (lambda: hw.replay(RECORDS, time="text"), "is a string"),
    "a file that is not there": (lambda: hw.replay("nowhere.csv"), "no file 'nowhere.csv'"),
    "no records": (lambda: hw.replay([]), "no records"),
    "a rate of zero": (lambda: hw.replay(RECORDS, rate=0), "must be positive"),
    "a schema that does not parse": (lambda: hw.replay(RECORDS, schema="a b c d"), "schema|type"),
    "a type that is none": (lambda: hw.replay(RECORDS, schema="a map<int,int>"), "not one that"),
    "a reserved name": (lambda: hw.replay(RECORDS, schema="__a int"), "two underscores"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_when_the_flow_is_built(mistake: str) -> None:
    build, message = MISTAKES[mistake]
    with pytest.raises(FlowError, match=message):
        build()


class Summing(hw.Pair):
    """Sums sizes."""

    def __init__(self, start: int = 0) -> None:
        self.start = start


class Closing(hw.WindowPair):
    """Does nothing at the end of a window."""


def test_the_two_forms_of_a_pair_are_told_apart() -> None:
    with pytest.raises(FlowError, match=r"WindowPair; put .window"):
        tweets().pair(Closing())
    with pytest.raises(FlowError, match="no finalize"):
        tweets().window("1s").pair(Summing())
    with pytest.raises(FlowError, match="on_error"):
        tweets().pair(Summing(), on_error="ignore")  # type: ignore[arg-type]


def test_branches_share_what_they_have_in_common() -> None:
    words = tweets().map("text", "size", key="text")
    counts = words.reduce(n="count(*)").to("parquet:counts")
    flow = counts + words.reduce(n="sum(size)").to("parquet:sums")
    assert [type(s).__name__ for s in flow.steps].count("Map") == 1
    assert [sink.name for sink in flow.sinks] == ["counts", "sums"]


def test_two_pairs_with_other_parameters_are_two_steps() -> None:
    one, two = (tweets().pair(Summing(n)).to(f"parquet:{n}") for n in (1, 2))
    flow = one + two
    assert len(flow.stateful()) == 2


def test_two_topics_that_look_alike_are_not_taken_for_one() -> None:
    left, right = hw.replay([{"a": 1}]), hw.replay([{"a": 2}])
    with pytest.raises(FlowError, match="two steps are called 'records'"):
        left.merge(right).to("console")
    assert len(left.merge(hw.replay([{"a": 2}], name="more")).to("console").sources) == 2


def test_two_sinks_in_one_place_are_refused() -> None:
    counts = tweets().key("text").reduce(n="count(*)")
    with pytest.raises(FlowError, match="both write to"):
        counts.to("spool:out", name="a") + counts.to("spool:./out", name="b")


class Stopping(hw.Pair):
    """Has a set as a parameter."""

    def __init__(self, words: object) -> None:
        self.words = words


def test_a_pair_is_known_again_by_its_parameters() -> None:
    assert Stopping({"b", "a"}).signature == "Stopping(words={'a', 'b'})"
    with pytest.raises(FlowError, match="give its class a __repr__"):
        tweets().pair(Stopping(object()))


def test_two_sinks_need_two_names() -> None:
    counts = tweets().reduce(n="count(*)").to("parquet:counts")
    with pytest.raises(FlowError, match="two sinks are called 'counts'"):
        counts + tweets().reduce(n="sum(size)").to("parquet:counts")


def test_two_sources_of_one_name_are_refused() -> None:
    other = hw.replay([{"text": "x", "size": 2, "at": 1.0, "more": 1}], name="tweets")
    with pytest.raises(FlowError, match="two steps are called 'tweets'"):
        tweets().map("text").merge(other.map("text")).to("console")


def test_a_circle_is_refused() -> None:
    flow = tweets().map("text").to("console")
    source, first, sink = flow.steps
    circle = [source, Merge("a", ("b", first.name)), Merge("b", ("a",)), first, sink]
    with pytest.raises(FlowError, match=r"runs in a circle: .*a.*b"):
        hw.Flow.of(circle)


def test_a_fingerprint_changes_with_the_state_and_not_with_the_sink() -> None:
    counts = tweets().key("text").reduce(n="count(*)")
    assert counts.to("console").fingerprint == counts.to("parquet:x").fingerprint
    others = [
        tweets().key("size").reduce(n="count(*)"),
        tweets().key("text").reduce(n="sum(size)"),
        tweets().key("text").window("1s").reduce(n="count(*)"),
        tweets().pair(Summing(1)),
        tweets().pair(Summing(2)),
        hw.replay(RECORDS, name="tweets", time=EventTime("at")).key("text").reduce(n="count(*)"),
        hw.replay(RECORDS, name="tweets", time=EventTime("at", unit="ms"))
        .key("text")
        .reduce(n="count(*)"),
        tweets().key("text").window("12345s").reduce(n="count(*)"),
        tweets().key("text").window("12341s").reduce(n="count(*)"),
    ]
    prints = {stream.to("console").fingerprint for stream in [counts, *others]}
    assert len(prints) == len(others) + 1


def test_every_error_survives_a_process_border() -> None:
    shown = {
        errors.SchemaMismatch: ("source 'a'", "x int", "y int"),
        errors.PairError: ("P", "update", "'k'", "{}", "Traceback"),
    }
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    for kind in (kind for kind in kinds if issubclass(kind, HeadwayError)):
        error = kind(*shown.get(kind, ("what happened",)))
        assert str(pickle.loads(pickle.dumps(error))) == str(error)

"""The control object: what it answers the gate, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headway.engine.spark.gate.channel import Ask, Caller, Hold, Reply, Take, WhenBegun
from headway.engine.spark.gate.control import Control
from headway.engine.spark.gate.offsets import Decision, GateOffset
from headway.flow.windows import Window
from headway.keep.pacing import Pace
from tests.waiting import HandClock

WINDOW = Window(10_000_000, 10_000_000)


@contextmanager
def control(
    clock: HandClock, window: Window | None = None, sources: tuple[str, ...] = ("a",)
) -> Iterator[tuple[Control, dict[str, int]]]:
    watermark = {"ms": 0}
    made = Control(Pace(interval_s=1.0, max_rows=10), window, clock)
    made.expected = sources
    made.attach(lambda: watermark["ms"])
    try:
        yield made, watermark
    finally:
        made.close()


def start(source: str = "a", at: int = 0, **decided: int) -> GateOffset:
    return GateOffset(source, {"0": at}, Decision({"0": 0}, t0_us=1, **decided))


def ask(made: Control, offset: GateOffset, reach: int, finished: bool = False) -> Reply:
    reply: Reply = made.answer(Ask(offset, {"0": reach}, finished))
    return reply


def test_a_batch_ends_where_the_pace_lets_it() -> None:
    clock = HandClock()
    with control(clock) as (made, _):
        first = ask(made, start(), 25)
        assert isinstance(first, Take)
        assert first.rows == 10
        assert first.end.decision.because == "25 waiting, 10 taken"
        assert isinstance(ask(made, first.end, 25), Hold)  # the interval has not passed
        clock.at_s += 1.0
        made.set_pace(max_rows=100, readers=3)
        second = ask(made, first.end.moved({"0": 10}), 25)
        assert isinstance(second, Take)
        assert (second.rows, second.end.decision.readers) == (100, 3)


def test_nothing_is_admitted_before_the_query_runs_or_while_it_stops() -> None:
    unattached = Control(Pace(), None, HandClock())
    assert isinstance(ask(unattached, start(), 5), Hold)
    assert unattached.answer(WhenBegun()) == 0
    unattached.close()
    with control(HandClock()) as (made, _):
        made.stop()
        assert isinstance(ask(made, start(), 5), Hold)


def test_a_clock_that_steps_back_moves_no_position_back() -> None:
    clock = HandClock()
    with control(clock) as (made, _):
        reply = ask(made, start(at=20), 5)  # the topic now seems to reach less far
        assert isinstance(reply, Hold)


def test_windows_that_the_watermark_passed_are_closed_without_records() -> None:
    # 0         10        20   watermark in seconds, windows of 10 s
    # |----8     |              8 -> 9: no end in between
    # |----8-----+--12          8 -> 12: the window that ends at 10 closes
    clock = HandClock()
    with control(clock, WINDOW) as (made, watermark):
        offset = start(at=5, wm_ms=8_000)
        watermark["ms"] = 9_000
        assert isinstance(ask(made, offset, 5), Hold)
        watermark["ms"] = 12_000
        reply = ask(made, offset, 5)
        assert isinstance(reply, Take)
        assert reply.end.position == offset.position
        assert reply.end.decision.wm_ms == 12_000
        assert reply.end.decision.because == "windows to close"


def test_a_topic_that_ends_is_marked_once_and_then_closed() -> None:
    clock = HandClock()
    with control(clock, WINDOW) as (made, watermark):
        marked = ask(made, start(at=5), 5, finished=True)
        assert isinstance(marked, Take)
        assert marked.end.decision.ended == 1
        clock.at_s += 1
        watermark["ms"] = 10**12
        closed = ask(made, marked.end, 5, finished=True)
        assert isinstance(closed, Take)
        assert closed.end.decision.ended == 1
        assert not made.all_read.is_set()
        clock.at_s += 1
        assert isinstance(ask(made, closed.end, 5, finished=True), Hold)
        assert made.all_read.is_set()


def test_after_a_restart_the_end_is_marked_again_where_sources_share_a_watermark() -> None:
    ended = start("a", at=5, ended=1)
    with control(HandClock(), WINDOW, ("a",)) as (alone, _):
        assert isinstance(ask(alone, ended, 5, finished=True), Hold)
    with control(HandClock(), WINDOW, ("a", "b")) as (shared, _):
        again = ask(shared, ended, 5, finished=True)
        assert isinstance(again, Take)
        assert again.end.decision.ended == 2
        assert not shared.all_read.is_set()


def test_the_gate_and_the_driver_talk_over_a_line() -> None:
    with control(HandClock()) as (made, _):
        caller = Caller(made.address)
        assert caller.call(WhenBegun()) == 100_000_000
        assert isinstance(caller.call(Ask(start(), {"0": 3}, False)), Take)


def test_an_offset_reads_back_as_it_was_written() -> None:
    offset = start("a", at=7, wm_ms=5, ended=1).moved({"0": 9}, max_rows=None, because="why")
    assert GateOffset.from_dict("a", offset.to_dict()) == offset

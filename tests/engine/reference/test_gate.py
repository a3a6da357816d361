"""Times, watermarks and lateness at the way in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headway.engine.reference.run import Arrived, Batch, Outcome, one_by_one, run_flow
from headway.flow.graph import Flow
from headway.flow.sources import replay
from headway.flow.topics import EventTime

ROW = {"at": 1.0, "word": "a"}


def counting(size: str, slide: str | None = None, lateness: str = "0s") -> Flow:
    stream = replay([ROW], time="at", name="words").key("word")
    return stream.window(size, slide, lateness=lateness).reduce(n="count(*)").to("console")


def at(*seconds: float) -> list[Arrived]:
    return [Arrived(n, n, {"at": float(s), "word": "a"}) for n, s in enumerate(seconds)]


def counts(outcome: Outcome) -> list[tuple[int, float, int]]:
    """Batch, end of window in seconds, count."""
    return sorted((a.batch, a.row["window_end"].timestamp(), a.row["n"]) for a in outcome.answers)


def test_a_window_is_open_at_its_start_and_closed_at_its_end() -> None:
    # 0         10        20
    # (---------]
    #           (---------]
    #           x                 t = 10 belongs to the first window only
    outcome = run_flow(counting("10s"), None, one_by_one("words", at(10, 10.000001)))
    assert counts(outcome) == [(2, 10.0, 1), (2, 20.0, 1)]


def test_a_record_is_counted_in_each_window_that_slides_over_it() -> None:
    # 0         10        20        30
    # (-------------------]
    #           (-------------------]
    #               x                   t = 15
    outcome = run_flow(counting("20s", "10s"), None, one_by_one("words", at(15)))
    assert counts(outcome) == [(1, 20.0, 1), (1, 30.0, 1)]


def test_a_window_is_answered_in_the_batch_after_the_one_that_passed_its_end() -> None:
    # batch      0   1    2
    # t          5   11   12
    # watermark  0   4.9  10.9   <- at the start of each batch
    outcome = run_flow(counting("10s"), None, one_by_one("words", at(5, 11, 12)), ended=False)
    assert counts(outcome) == [(2, 10.0, 1)]


def test_a_record_at_the_very_end_of_a_window_does_not_close_it() -> None:
    outcome = run_flow(counting("10s"), None, one_by_one("words", at(5, 10, 10)), ended=False)
    assert outcome.answers == ()


def test_a_batch_without_records_closes_windows() -> None:
    batches = [*one_by_one("words", at(5, 11)), Batch({})]
    assert counts(run_flow(counting("10s"), None, batches, ended=False)) == [(2, 10.0, 1)]


def test_a_record_whose_last_window_has_closed_is_set_aside_as_late() -> None:
    # 0         10        20        30
    # (---------]  closed when the batch with t = 3 starts
    #             12  25            t = 3 comes after both
    outcome = run_flow(counting("10s"), None, one_by_one("words", at(12, 25, 3)))
    assert counts(outcome) == [(2, 20.0, 1), (3, 30.0, 1)]
    (gone,) = outcome.set_aside
    assert (gone.step, gone.reason, gone.record["at"]) == ("words", "late", 3.0)


def test_a_record_that_is_late_for_one_window_still_counts_in_the_next() -> None:
    # 0         10        20        30
    # (-------------------]                closed: the watermark is past 21
    #           (-------------------]      open
    #                    x                 t = 19
    outcome = run_flow(counting("20s", "10s"), None, one_by_one("words", at(22, 22, 19)))
    assert outcome.set_aside == ()
    assert counts(outcome) == [(3, 30.0, 3), (3, 40.0, 2)]


def test_stragglers_count_for_as_long_as_lateness_allows() -> None:
    #                       t   2    15   3    31   3
    # watermark at its start    0    0    5    5    21   <- ten seconds behind
    patient = counting("10s", lateness="10s")
    waited = run_flow(patient, None, one_by_one("words", at(2, 15, 3, 31, 3)))
    assert [gone.record["at"] for gone in waited.set_aside] == [3.0]
    assert (4, 10.0, 2) in counts(waited)


def test_a_late_record_does_not_move_the_watermark_and_time_never_goes_back() -> None:
    outcome = run_flow(counting("10s"), None, one_by_one("words", at(25, 3, 3, 21)), ended=False)
    assert [gone.record["at"] for gone in outcome.set_aside] == [3.0, 3.0]
    assert outcome.answers == ()


def test_records_of_one_batch_are_judged_by_the_watermark_at_its_start() -> None:
    batch = Batch({"words": at(25, 3)})
    assert run_flow(counting("10s"), None, [batch]).set_aside == ()


def test_a_watermark_from_a_log_overrides_the_computed_one() -> None:
    told = [Batch({"words": at(5)}), Batch({"words": at(3)}, watermark_ms=10_000)]
    outcome = run_flow(counting("10s"), None, told, ended=False)
    assert counts(outcome) == [(1, 10.0, 1)]
    assert [gone.reason for gone in outcome.set_aside] == ["late"]


def test_the_slowest_source_holds_the_watermark_back() -> None:
    left = replay([ROW], time="at", name="left")
    right = replay([ROW], time="at", name="right")
    flow = left.merge(right).key("word").window("10s").reduce(n="count(*)").to("console")
    # left   5   25   .    .       right has had no record: its watermark counts 0
    # right  .   .    12   .
    batches = [
        Batch({"left": at(5)}),
        Batch({"left": at(25)}),
        Batch({"right": at(12)}),
        Batch({}),
    ]
    outcome = run_flow(flow, None, batches)
    assert counts(outcome) == [(3, 10.0, 1), (4, 20.0, 1), (4, 30.0, 1)]


def test_without_an_event_time_a_records_time_is_its_arrival() -> None:
    flow = replay([{"word": "a"}], name="words").window("10s").reduce(n="count(*)").to("console")
    arrived = [Arrived(10_000_001, 0, {"word": "a"})]
    (answer,) = run_flow(flow, None, one_by_one("words", arrived)).answers
    assert answer.row == {
        "window_start": datetime(1970, 1, 1, 0, 0, 10, tzinfo=UTC),
        "window_end": datetime(1970, 1, 1, 0, 0, 20, tzinfo=UTC),
        "n": 1,
    }


@pytest.mark.parametrize(
    ("value", "unit", "end_s"),
    [
        (12, "s", 20.0),
        (12_000, "ms", 20.0),
        (10_000_001, "us", 20.0),
        (10_000_000, "us", 10.0),
        (9.9999996, "s", 10.0),
        (10.0000006, "s", 20.0),
        (datetime(1970, 1, 1, 0, 0, 12, tzinfo=UTC), "s", 20.0),
    ],
)
def test_an_event_time_is_read_by_its_unit(value: object, unit: str, end_s: float) -> None:
    time = EventTime("at", unit)  # type: ignore[arg-type]
    flow = replay([{"at": value}], time=time, name="words").window("10s").reduce(n="count(*)")
    outcome = run_flow(
        flow.to("console"), None, one_by_one("words", [Arrived(0, 0, {"at": value})])
    )
    assert counts(outcome) == [(1, end_s, 1)]


@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_record_without_an_event_time_is_set_aside_as_unreadable(value: float | None) -> None:
    arrived = [Arrived(0, 0, {"at": value, "word": "a"}), *at(5)]
    outcome = run_flow(counting("10s"), None, one_by_one("words", arrived))
    assert [gone.reason for gone in outcome.set_aside] == ["unreadable"]
    assert counts(outcome) == [(2, 10.0, 1)]

"""What becomes of records at the gate: rows, or entries of the quarantine; nothing in between."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import headway as hw
from headway.engine.spark.gate.admission import Admission, Shape, admit_records, marker_batch
from headway.engine.spark.gate.offsets import Decision
from headway.engine.topics.opening import open_topic
from headway.engine.topics.port import Slice
from headway.engine.topics.quarantine import read_quarantine
from headway.flow.steps import Source
from headway.flow.topics import EventTime
from headway.flow.windows import Window

WINDOW = Window(10_000_000, 5_000_000)


def admit(
    records: list[dict[str, Any]], folder: Path, time: Any = None, wm_ms: int = 0
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    source = hw.replay(records, time=time, rate=10).steps[0]
    assert isinstance(source, Source)
    admission = Admission(source, Shape(("n",), WINDOW), folder / "quarantine")
    topic = open_topic(source, folder / "topics", 1_000_000)
    decision = Decision({"0": 0}, t0_us=1_000_000, wm_ms=wm_ms)
    piece = Slice("0", 0, len(records))
    rows = [
        row
        for batch in admit_records(topic, piece, decision, admission)
        for row in batch.to_pylist()
    ]
    return rows, read_quarantine(folder / "quarantine").to_pylist()


def test_a_record_becomes_a_row_with_its_time_and_arrival(tmp_path: Path) -> None:
    rows, aside = admit([{"n": 1, "at": 20}, {"n": 2, "at": 21}], tmp_path, time="at", wm_ms=7_000)
    assert aside == []
    assert rows[1] == {
        "n": 2,
        "__ages": None,
        "__arrival_us": 1_100_000,
        "__tick": datetime(1970, 1, 1, 0, 0, 20, 999_999, tzinfo=UTC),
        "__closed_us": 7_000_000,
    }


@pytest.mark.parametrize("at", [None, float("nan"), float("inf"), 1e12, -1e12, 1.8e15])
def test_what_is_no_time_is_set_aside_and_moves_no_watermark(at: Any, tmp_path: Path) -> None:
    rows, aside = admit([{"n": 1, "at": at}, {"n": 2, "at": 5.0}], tmp_path, time="at")
    assert [row["n"] for row in rows] == [2]
    assert [(record["why"], record["offset"]) for record in aside] == [("unreadable", 0)]
    said = "its time is missing" if at is None else "is its unit right?"
    assert said in aside[0]["reason"]


def test_milliseconds_taken_for_seconds_are_noticed(tmp_path: Path) -> None:
    records = [{"n": 1, "at": 1_700_000_000_000}]
    rows, aside = admit(records, tmp_path / "s", time=EventTime("at", "s"))
    assert (len(rows), len(aside)) == (0, 1)
    rows, aside = admit(records, tmp_path / "ms", time=EventTime("at", "ms"))
    assert (len(rows), len(aside)) == (1, 0)


def test_a_record_is_late_when_the_last_of_its_windows_has_closed(tmp_path: Path) -> None:
    # windows of 10 s every 5 s; the watermark is at 20
    #   at 10 -> (0, 10] (5, 15]    both closed: late
    #   at 11 -> (5, 15] (10, 20]   both closed: late
    #   at 16 -> (10, 20] (15, 25]  one is open
    records = [{"n": n, "at": n} for n in (10, 11, 16)]
    rows, aside = admit(records, tmp_path, time="at", wm_ms=20_000)
    assert [row["n"] for row in rows] == [16]
    assert [record["why"] for record in aside] == ["late", "late"]
    assert "10 s behind the watermark" in aside[0]["reason"]


def test_a_marker_tells_the_end_of_time_or_what_has_closed() -> None:
    source = hw.replay([{"n": 1}]).steps[0]
    assert isinstance(source, Source)
    end = marker_batch(Shape(("n",), WINDOW), source, Decision({"0": 0}, ended=1)).to_pylist()
    assert end[0]["__tick"].year == 9999
    pair = Shape(("n",), WINDOW, for_pair=True)
    told = marker_batch(pair, source, Decision({"0": 0}, wm_ms=5)).to_pylist()
    assert (told[0]["__time_us"], told[0]["__seq"]) == (5_000, -1)

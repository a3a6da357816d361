"""What the native benchmark makes of its measurements."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headway.benches.native import FILES, OURS, PLAIN, figures_of, final_counts, measure
from headway.clock import SystemClock
from headway.engine.stock.backlog import Backlog
from headway.engine.stock.collected import Collected
from headway.errors import RunError
from headway.workloads.makers.tweets import Tweets

BACKLOG = Backlog(Tweets(), 50, 10, ("text",))


def collected(count: int) -> Collected:
    made = Collected(SystemClock())
    for batch in range(BACKLOG.batches):
        made(batch, pa.table({"word": ["a"], "n": [batch + count]}))
    return made


def test_ratios_compare_contestants_within_a_repeat() -> None:
    rates = {OURS: [90.0, 100.0, 50.0], PLAIN: [100.0, 100.0, 50.0], FILES: [45.0, 50.0, 50.0]}
    figures = figures_of(rates, BACKLOG)
    assert figures["rate_ratio"] == 1.0
    assert figures["rate_ratio_spread"] == [0.9, 1.0]
    assert figures["rate_ratio_vs_file_source"] == 2.0
    assert figures["rows_per_s"] == {OURS: 90.0, PLAIN: 100.0, FILES: 50.0}


def test_the_last_count_of_a_word_is_its_largest() -> None:
    answers = pa.table({"word": ["a", "b", "a"], "n": [1, 5, 2]})
    assert final_counts(answers) == {"a": 2, "b": 5}


def test_the_first_turn_is_not_counted_and_the_order_changes() -> None:
    asked: list[str] = []
    turns = {
        name: lambda name=name: (asked.append(name), collected(1))[1]  # type: ignore[misc]
        for name in (OURS, PLAIN)
    }
    rates = measure(turns, BACKLOG, repeats=2)
    assert {name: len(found) for name, found in rates.items()} == {OURS: 2, PLAIN: 2}
    assert asked == [OURS, PLAIN, PLAIN, OURS, OURS, PLAIN]


def test_contestants_that_disagree_are_an_error() -> None:
    turns = {OURS: lambda: collected(1), PLAIN: lambda: collected(2)}
    with pytest.raises(RunError, match="counted other words"):
        measure(turns, BACKLOG, repeats=1)

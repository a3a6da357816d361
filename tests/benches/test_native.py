"""What the native benchmark makes of its measurements."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headway.benches.native import FILES, OURS, PLAIN, check_equal, figures_of, final_counts
from headway.clock import SystemClock
from headway.engine.stock.collected import Collected
from headway.engine.stock.ratios import Rounds
from headway.errors import RunError


def collected(count: int) -> Collected:
    made = Collected(2, SystemClock())
    for batch in range(2):
        made(batch, pa.table({"word": ["a"], "n": [batch + count]}))
    return made


def test_a_repeat_is_compared_with_itself() -> None:
    seconds = {OURS: [1.0, 2.0, 4.0], PLAIN: [0.9, 2.0, 4.0], FILES: [2.0, 4.0, 4.0]}
    figures = figures_of(seconds, 100, Rounds(5, 3, 2))
    assert figures["rate_ratio"] == 1.0
    assert figures["rate_ratio_spread"] == [0.9, 1.0]
    assert figures["rate_ratio_vs_file_source"] == 2.0
    assert figures["rows_per_s"] == {OURS: 100.0, PLAIN: 100.0, FILES: 50.0}


def test_the_last_count_of_a_word_is_its_largest() -> None:
    answers = pa.table({"word": ["a", "b", "a"], "n": [1, 5, 2]})
    assert final_counts(answers) == {"a": 2, "b": 5}


def test_contestants_that_disagree_are_an_error() -> None:
    check_equal({OURS: collected(1), PLAIN: collected(1)})
    with pytest.raises(RunError, match="counted other words"):
        check_equal({OURS: collected(1), PLAIN: collected(2)})

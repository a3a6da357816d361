"""The top words are those of the latest window, whatever order answers come in."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from headway.cli.running.top_words import SHOWN, TopWords


def answers(end: int, **counts: int) -> pa.Table:
    ends = [datetime(2026, 1, 1, 10, 0, end, tzinfo=UTC)] * len(counts)
    return pa.table({"window_end": ends, "word": list(counts), "n": list(counts.values())})


def test_a_later_window_replaces_and_an_earlier_one_is_passed_over() -> None:
    words = TopWords()
    assert words.top() is None
    words.take(0, answers(10, a=5, b=9))
    words.take(1, answers(20, c=1))
    words.take(2, answers(10, a=99))
    words.take(3, answers(20, d=1, e=7))
    found = words.top()
    assert found is not None
    assert found.rows == (("e", 7), ("c", 1), ("d", 1))
    assert found.of == "top words until 10:00:20"


def test_a_new_count_of_a_word_replaces_the_old_and_few_are_shown() -> None:
    words = TopWords()
    words.take(0, answers(10, **{f"w{n:02}": n for n in range(40)}))
    words.take(1, answers(10, w00=100))
    found = words.top()
    assert found is not None
    assert found.rows[0] == ("w00", 100)
    assert len(found.rows) == SHOWN

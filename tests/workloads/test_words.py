"""Word counting by pairs equals counting by hand, and states of parts merge."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.flow.steps import Filter, Map, PairStep, Reduce
from headway.flow.windows import Window
from headway.workloads.makers.tweets import Tweets
from headway.workloads.registry import WORKLOADS
from headway.workloads.words import (
    FrequentWords,
    WindowedWords,
    frequent_words,
    frequent_words_pair,
    windowed_words,
    windowed_words_pair,
)

from .driver import Record, run_pair, run_window_pair

TEXTS = st.text("aAbB ", max_size=12)
COUNTS = st.lists(st.integers(1, 5))


def tweets(count: int) -> list[Record]:
    rows = Tweets(vocabulary=200).make(0, count).to_pylist()
    return [(row["time"].timestamp(), row) for row in rows]


def words_of(text: str) -> list[str]:
    return [word for word in text.lower().split(" ") if word]


@given(st.lists(TEXTS), st.integers(1, 6))
def test_a_word_is_told_once_when_its_count_reaches_the_threshold(
    texts: list[str], threshold: int
) -> None:
    records: list[Record] = [(float(n), {"text": text}) for n, text in enumerate(texts)]
    answers, states = run_pair(FrequentWords(threshold), records)
    counts: Counter[str] = Counter()
    expected = []
    for time, value in records:
        before = counts.copy()
        counts.update(words_of(value["text"]))
        expected += [(time, word, n) for word, n in counts.items() if before[word] < threshold <= n]
    assert sorted(answers) == sorted(expected)
    assert states == dict(counts)


def test_a_record_without_text_has_no_words() -> None:
    assert run_pair(FrequentWords(1), [(0.0, {"text": None})]) == ([], {})


@given(COUNTS, COUNTS)
def test_merging_the_counts_of_two_parts_equals_counting_both(
    left: list[int], right: list[int]
) -> None:
    pair = FrequentWords(3)

    def count(values: list[int]) -> Any:
        return reduce(lambda state, n: pair.update(0.0, "a", n, state)[0], values, pair.init("a"))

    assert pair.merge(count(left), count(right)) == count(left + right)


@given(COUNTS, COUNTS)
def test_merging_two_parts_of_a_window_equals_counting_both(
    left: list[int], right: list[int]
) -> None:
    pair = WindowedWords()

    def count(values: list[int]) -> Any:
        start = pair.init("a", 30.0)
        return reduce(lambda state, n: pair.update(0.0, "a", 30.0, n, state), values, start)

    assert pair.merge(count(left), count(right)) == count(left + right)


@pytest.mark.parametrize("window", [Window(20_000, 20_000), Window(30_000, 10_000)], ids=str)
def test_each_window_tells_the_count_of_each_of_its_words(window: Window) -> None:
    records = tweets(1_000)
    expected: Counter[tuple[float, str]] = Counter()
    for time, value in records:
        for end_us in window.ends_of(round(time * 1e6)):
            expected.update((end_us / 1e6, word) for word in words_of(value["text"]))
    answers = run_window_pair(WindowedWords(), records, window)
    assert {(time, word): n for time, word, n in answers} == expected
    assert len(answers) == len(expected)


def test_the_native_forms_are_a_map_a_filter_and_a_reduce() -> None:
    running = frequent_words(WORKLOADS["words"].source(count=100), threshold=7)
    assert [type(step) for step in running.steps[1:]] == [Map, Filter, Reduce, Filter]
    assert running.columns == ("word", "n")
    windowed = windowed_words(WORKLOADS["windows"].source(count=100), "30s", "10s")
    assert windowed.columns == ("window_start", "window_end", "word", "n")


def test_the_pair_forms_are_one_step_that_pickles() -> None:
    running = frequent_words_pair(WORKLOADS["words"].source(count=100), threshold=7)
    windowed = windowed_words_pair(WORKLOADS["windows"].source(count=100))
    for stream, pair in ((running, FrequentWords(7)), (windowed, WindowedWords())):
        step = stream.steps[-1]
        assert isinstance(step, PairStep)
        assert pickle.loads(pickle.dumps(step.pair)) == pair
        assert stream.columns == ("time", "key", "n")


def test_a_threshold_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1; got 0"):
        FrequentWords(0)

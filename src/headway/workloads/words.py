"""Word counting over tweets, the running and the windowed form: two workloads of paper 1.

A word is the same to all of them: lower case, cut at each space, empty pieces left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from headway.flow.pairs import Emitted, Pair, WindowPair
from headway.flow.stream import Stream
from headway.units import Duration

THRESHOLD = 100
WINDOW = "30s"


def split_words(tweets: Stream) -> Stream:
    """One record for each word of each text, keyed by the word."""
    words = tweets.map("explode(split(lower(text), ' ')) AS word", key="word")
    return words.filter("word != ''")


def frequent_words(tweets: Stream, threshold: int = THRESHOLD) -> Stream:
    """Words seen at least `threshold` times so far, with their counts (`word`, `n`).

    A word appears again whenever its count has grown; the pair tells each word once.
    """
    return split_words(tweets).reduce(n="count(*)").filter(f"n >= {int(threshold)}")


def frequent_words_pair(tweets: Stream, threshold: int = THRESHOLD) -> Stream:
    """Each word once, when its count reaches `threshold`, by the Python pair `FrequentWords`."""
    return tweets.pair(FrequentWords(threshold))


def windowed_words(
    tweets: Stream, size: Duration = WINDOW, slide: Duration | None = None
) -> Stream:
    """How often each word occurs in each window (`window_start`, `window_end`, `word`, `n`)."""
    return split_words(tweets).window(size, slide).reduce(n="count(*)")


def windowed_words_pair(
    tweets: Stream, size: Duration = WINDOW, slide: Duration | None = None
) -> Stream:
    """How often each word occurs in each window, by the Python pair `WindowedWords`."""
    return tweets.window(size, slide).pair(WindowedWords())


def count_words(text: str | None) -> Iterator[tuple[str, int]]:
    """Each word of one text with its count in it.

    >>> list(count_words("To be or not  to be"))
    [('to', 2), ('be', 2), ('or', 1), ('not', 1)]
    """
    counts = Counter((text or "").lower().split(" "))
    return ((word, n) for word, n in counts.items() if word)


@dataclass(frozen=True)
class FrequentWords(Pair):
    """Tells a word once, when its count reaches the threshold (paper 1, section 2.1).

    The state of a word is its count, so states of two parts add up. Only `update` can emit: where a
    merge carries a count over the threshold, nothing is told of it.
    """

    emits: ClassVar[str] = "n bigint"
    threshold: int = THRESHOLD

    def __post_init__(self) -> None:
        if self.threshold < 1:
            raise ValueError(f"the threshold must be at least 1; got {self.threshold!r}")

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Emitted:
        """The words of one tweet, each with its count in it."""
        for word, n in count_words(value["text"]):
            yield time, word, n

    def init(self, key: str) -> int:
        """A new word was never counted."""
        return 0

    def update(self, time: float, key: str, value: int, state: int) -> tuple[int, Emitted]:
        """Add to the count; tell the word if this is what brings it to the threshold."""
        count = state + value
        return count, [(time, key, count)] if state < self.threshold <= count else ()

    def merge(self, left: int, right: int) -> int:
        """The count over both parts."""
        return left + right


@dataclass(frozen=True)
class WindowedWords(WindowPair):
    """The count of a word in a window, told when the window closes."""

    emits: ClassVar[str] = "n bigint"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Emitted:
        """The words of one tweet, each with its count in it."""
        for word, n in count_words(value["text"]):
            yield time, word, n

    def init(self, key: str, wtime: float) -> int:
        """A word not yet seen in this window."""
        return 0

    def update(self, time: float, key: str, wtime: float, value: int, state: int) -> int:
        """Add to the window's count."""
        return state + value

    def merge(self, left: int, right: int) -> int:
        """The count over both parts of a window."""
        return left + right

    def finalize(self, key: str, wtime: float, state: int) -> Emitted:
        """The word's count, at the window's end."""
        yield wtime, key, state

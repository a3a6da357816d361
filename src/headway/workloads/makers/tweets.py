"""Short messages with the word frequencies of a natural language, hashtags and mentions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from headway.flow.columns.schema import Schema
from headway.workloads.makers.chance import STEP, Hashes, Numbers, hash_numbers, mix
from headway.workloads.makers.disorder import IN_ORDER, Disorder
from headway.workloads.makers.vocabulary import vocabulary
from headway.workloads.makers.zipf import draw_ranks, name_ranks

TWEETS = "time timestamp, user string, text string"
COLUMNS = Schema.parse(TWEETS).arrow()
FEWEST_WORDS, MOST_WORDS = 5, 25
# Of 256 words, on average: the first 10 values of a hash's last byte mean a hashtag, the next 8 a
# mention. Hashtags skip the most common words: nobody tags "the".
TAGS_BELOW, MENTIONS_BELOW = np.uint64(10), np.uint64(18)
WORDS_NEVER_TAGGED = 100


@dataclass(frozen=True, slots=True)
class Tweets:
    """Tweets of 5 to 25 words, drawn from a vocabulary by a Zipf law; users are skewed likewise.

    >>> Tweets(seed=1).make(10, 12).equals(Tweets(seed=1).make(0, 12).slice(10))
    True
    """

    seed: int = 0
    vocabulary: int = 10_000
    exponent: float = 1.0
    users: int = 10_000
    disorder: Disorder = IN_ORDER
    schema = TWEETS

    def make(self, first: int, stop: int) -> pa.RecordBatch:
        """Records `first` to `stop`, a function of these numbers and the parameters alone."""
        ranks = draw_ranks(
            hash_numbers(first, stop, self.seed, "user"), self.users, min(self.exponent, 1.0)
        )
        texts = self._texts(hash_numbers(first, stop, self.seed, "text"))
        times = self.disorder.times(first, stop, self.seed)
        return pa.RecordBatch.from_arrays([times, name_ranks("user", ranks), texts], schema=COLUMNS)

    def _texts(self, hashes: Hashes) -> pa.StringArray:
        lengths = FEWEST_WORDS + (hashes % np.uint64(MOST_WORDS - FEWEST_WORDS + 1)).view(np.int64)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        # Word p of a tweet is drawn by mix(hash + p * STEP); the whole batch in one go.
        origins = hashes - (ends - lengths).view(np.uint64) * STEP
        drawn = mix(np.repeat(origins, lengths) + np.arange(total, dtype=np.uint64) * STEP)
        tokens = draw_ranks(drawn, self.vocabulary, self.exponent) + self._sections(drawn)
        tokens[ends - 1] += 3 * self.vocabulary
        return join_tokens(spellings(self.vocabulary, self.users).take(pa.array(tokens)), ends)

    def _sections(self, drawn: Hashes) -> Numbers:
        kind = drawn & np.uint64(0xFF)
        tags, marked = (kind < TAGS_BELOW), (kind < MENTIONS_BELOW)
        return (marked.astype(np.int64) * 2 - tags) * self.vocabulary


@lru_cache(maxsize=8)
def spellings(size: int, users: int) -> pa.StringArray:
    """Every token as it is spelled: words, hashtags, mentions; then the same as last of a text."""
    words = vocabulary(size)
    tags = [f"#{words[(rank + WORDS_NEVER_TAGGED) % size]}" for rank in range(size)]
    mentions = [f"@user{rank % users}" for rank in range(size)]
    last = [*words, *tags, *mentions]
    return pa.array([*(f"{token} " for token in last), *last])


def join_tokens(tokens: pa.StringArray, ends: Numbers) -> pa.StringArray:
    """Texts made of adjoining tokens, `ends` being the end of each text; no byte is copied.

    >>> join_tokens(pa.array(["a ", "b", "c"]), np.array([2, 3])).to_pylist()
    ['a b', 'c']
    """
    if not len(ends):
        return pa.array([], pa.string())
    _, offsets, letters = tokens.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[np.concatenate([[0], ends])]
    return pa.StringArray.from_buffers(len(ends), pa.py_buffer(bounds), letters)

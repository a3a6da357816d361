"""Made tweets look like tweets: enough words, some hashtags and mentions, a skewed vocabulary."""

from __future__ import annotations

from collections import Counter

import pytest

from headway.workloads.makers.tweets import Tweets
from headway.workloads.makers.vocabulary import vocabulary


def texts_of(maker: Tweets, count: int = 20_000) -> list[str]:
    texts: list[str] = maker.make(0, count).column("text").to_pylist()
    return texts


def test_a_tweet_has_5_to_25_words_with_one_space_between() -> None:
    lengths = {len(text.split(" ")) for text in texts_of(Tweets())}
    assert lengths == set(range(5, 26))
    assert all("  " not in text and text == text.strip() for text in texts_of(Tweets(), 1_000))


def test_some_words_are_hashtags_and_some_are_mentions() -> None:
    words = [word for text in texts_of(Tweets()) for word in text.split()]
    assert 0.03 < sum(word[0] == "#" for word in words) / len(words) < 0.05
    assert 0.02 < sum(word[0] == "@" for word in words) / len(words) < 0.04


def test_the_second_word_is_about_half_as_frequent_as_the_first() -> None:
    counts = Counter(word for text in texts_of(Tweets()) for word in text.split())
    assert [word for word, _ in counts.most_common(3)] == vocabulary(3)
    assert 0.45 < counts["to"] / counts["the"] < 0.55


def test_only_words_of_the_vocabulary_and_users_of_the_crowd_occur() -> None:
    maker = Tweets(vocabulary=50, users=5)
    words = {word.lstrip("#") for text in texts_of(maker) for word in text.split()}
    assert words == {*vocabulary(50), *(f"@user{n}" for n in range(5))}


@pytest.mark.parametrize("size", [1, 100, 5_000])
def test_a_longer_vocabulary_begins_like_a_shorter_one(size: int) -> None:
    longer = vocabulary(6_000)
    assert longer[:size] == vocabulary(size)
    assert len(set(longer)) == 6_000
    assert all(word.isalpha() and word.islower() for word in longer)


def test_a_vocabulary_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one word"):
        vocabulary(0)

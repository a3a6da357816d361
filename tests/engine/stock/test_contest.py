"""Whoever counts, headway or Spark by hand, the counts are the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headway.engine.stock.backlog import Backlog
from headway.engine.stock.contest import Contest, Entry
from headway.engine.stock.counts import INTERFACES, missing
from headway.engine.stock.words import count_words
from headway.errors import RunError
from headway.workloads.makers.keyed import Keyed
from headway.workloads.makers.tweets import Tweets
from headway.workloads.words import split_words

pytestmark = pytest.mark.spark
TWEETS = Backlog(Tweets(vocabulary=50), 300, 150, ("text",))
KEYED = Backlog(Keyed(keys=20), 300, 150, ("key",))


@pytest.fixture
def contest(spark: SparkSession, tmp_path: Path) -> Contest:
    return Contest(spark, tmp_path)


def alone(contest: Contest, entry: Entry, batches: int) -> list[dict[str, Any]]:
    made = contest.meet({"alone": entry}, batches, lambda name: None)
    rows: list[dict[str, Any]] = made["alone"].rows().to_pylist()
    return rows


@pytest.mark.long
def test_all_ways_of_counting_words_find_the_words_of_the_tweets(contest: Contest) -> None:
    seen: list[str] = []
    entries = {
        "headway": contest.headway(lambda tweets: split_words(tweets).reduce(n="count(*)"), TWEETS),
        "plain": contest.stock(count_words, TWEETS, "update"),
        "files": contest.stock_files(count_words, TWEETS, "update"),
    }
    made = contest.meet(entries, TWEETS.batches, seen.append)
    texts = TWEETS.maker.make(0, TWEETS.count).column("text").to_pylist()
    expected = Counter(word for text in texts for word in text.lower().split(" ") if word)
    for collected in made.values():
        assert {row["word"]: row["n"] for row in collected.rows().to_pylist()} == expected
        assert len(collected.took_s) == TWEETS.batches
    assert Counter(seen) == dict.fromkeys(entries, TWEETS.batches - 1)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.long
def test_every_state_interface_tells_each_count_of_each_key(
    contest: Contest, interface: str
) -> None:
    if interface in missing():
        pytest.skip(missing()[interface])
    entry = contest.stock(INTERFACES[interface], KEYED, "append")
    told = Counter((row["key"], row["n"]) for row in alone(contest, entry, KEYED.batches))
    seen: Counter[str] = Counter()
    expected: Counter[tuple[str, int]] = Counter()
    for key in KEYED.maker.make(0, KEYED.count).column("key").to_pylist():
        seen[key] += 1
        expected[key, seen[key]] += 1
    assert told == expected


@pytest.mark.long
def test_a_stock_query_that_fails_is_an_error_and_keeps_nobody_waiting(contest: Contest) -> None:
    broken = contest.stock(lambda k: k.selectExpr("assert_true(key = '') AS no"), KEYED, "append")
    sound = contest.stock(lambda keyed: keyed, KEYED, "append")
    with pytest.raises(RunError, match="ended early"):
        contest.meet({"broken": broken, "sound": sound}, KEYED.batches, lambda name: None)

"""Whoever counts, headway or Spark by hand, the counts are the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headway.engine.stock.backlog import Backlog
from headway.engine.stock.contest import Contest
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


@pytest.mark.parametrize("who", ["headway", "plain", "files"])
def test_every_way_of_counting_words_finds_the_words_of_the_tweets(
    contest: Contest, who: str
) -> None:
    if who == "headway":
        made = contest.headway(lambda tweets: split_words(tweets).reduce(n="count(*)"), TWEETS)
    elif who == "plain":
        made = contest.stock(count_words, TWEETS, "update")
    else:
        made = contest.stock_files(count_words, TWEETS, contest.lay_out(TWEETS), "update")
    last = {row["word"]: row["n"] for row in made.rows().to_pylist()}
    texts = TWEETS.maker.make(0, TWEETS.count).column("text").to_pylist()
    assert last == Counter(word for text in texts for word in text.lower().split(" ") if word)
    assert len(made.out_s) == TWEETS.batches


@pytest.mark.parametrize("interface", INTERFACES)
def test_every_state_interface_tells_each_count_of_each_key(
    contest: Contest, interface: str
) -> None:
    if interface in missing():
        pytest.skip(missing()[interface])
    made = contest.stock(INTERFACES[interface], KEYED, "append")
    told = Counter((row["key"], row["n"]) for row in made.rows().to_pylist())
    seen: Counter[str] = Counter()
    expected: Counter[tuple[str, int]] = Counter()
    for key in KEYED.maker.make(0, KEYED.count).column("key").to_pylist():
        seen[key] += 1
        expected[key, seen[key]] += 1
    assert told == expected


def test_a_stock_query_that_fails_is_an_error_not_a_wait(contest: Contest) -> None:
    with pytest.raises(RunError, match="ended early"):
        contest.stock(lambda keyed: keyed.selectExpr("assert_true(key = '')"), KEYED, "append")

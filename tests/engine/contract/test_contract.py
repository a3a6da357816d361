"""Every feature of a flow, on the Spark engine and on the reference engine, record for record."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.flow.stream import Stream
from tests.engine.contract.both import assert_engines_agree

pytestmark = pytest.mark.spark
START = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = ["a b", "b c d", "", "a a", "É ü", "c", "b b b", "d a", "e", "a b c d e"]


def tweets(count: int = 30, disorder_s: int = 0) -> list[dict[str, Any]]:
    """Tweets a second apart, some of them `disorder_s` behind their place."""
    rows = []
    for n in range(count):
        behind = disorder_s if n % 5 == 3 else 0
        rows.append(
            {
                "time": START + timedelta(seconds=n - behind),
                "user": f"u{n % 4}" if n % 7 else None,
                "text": WORDS[n % len(WORDS)],
                "size": n % 6,
                "score": n / 4 if n % 3 else None,
            }
        )
    return rows


def stream(records: list[dict[str, Any]] | None = None, **options: Any) -> Stream:
    return hw.replay(records or tweets(), time="time", name="tweets", **options)


def words(source: Stream) -> Stream:
    return source.map("explode(split(lower(text), ' ')) AS word", key="word")


class Counting(hw.Pair):
    """Counts the records of a key and says so at each."""

    key = "string"
    emits = "n bigint, total bigint"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Any:
        yield time, value["user"] or "nobody", value["size"]

    def init(self, key: Any) -> Any:
        return (0, 0)

    def update(self, time: float, key: Any, value: Any, state: Any) -> Any:
        state = (state[0] + 1, state[1] + value)
        return state, [(time, key, state)]


class FirstAndLast(hw.WindowPair):
    """The first and the last text of a key in a window: depends on the order of arrival."""

    emits = "first string, last string, n bigint"

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Any:
        yield time, key, value["text"]

    def update(self, time: float, key: Any, wtime: float, value: Any, state: Any) -> Any:
        if state is None:
            return [value, value, 1]
        state[1], state[2] = value, state[2] + 1
        return state

    def finalize(self, key: Any, wtime: float, state: Any) -> Any:
        yield wtime, key, state


def merged() -> Stream:
    left = stream().map("user", "size", key="user")
    right = hw.replay(tweets(20), time="time", name="more").map("user", "size + 100 AS size")
    return left.merge(right.key("user")).reduce(n="count(*)", total="sum(size)")


def merged_windows() -> Stream:
    left = stream().map("user", "size", key="user")
    right = hw.replay(tweets(20), time="time", name="more").map("user", "size")
    return left.merge(right).key("user").window("10s", slide="5s").reduce(total="sum(size)")


FLOWS: dict[str, Callable[[], Stream]] = {
    "map and filter without state": lambda: stream().map(
        "upper(text) AS loud", "size * 2 AS twice", "coalesce(user, 'nobody') AS who"
    ).filter("twice > 4"),
    "star and filter": lambda: stream().filter("size % 2 = 0").map("*", "size + 1 AS next"),
    "running word count": lambda: words(stream()).reduce(n="count(*)"),
    "several aggregates of a key that may be null": lambda: stream().key("user").reduce(
        n="count(*)", total="sum(size)", mean="avg(score)", least="min(time)", most="max(text)",
        share="sum(size) / count(*)", scored="count(score)", big="count_if(size > 3)",
    ),
    "a key of two columns": lambda: stream().key("user", "size").reduce(n="count(*)"),
    "no key at all": lambda: stream().filter("size = 5").reduce(n="count(*)", top="max(time)"),
    "filter and map after a reduce": lambda: words(stream()).reduce(n="count(*)").filter(
        "n >= 5"
    ).map("word", "n * 10 AS tens"),
    "tumbling windows": lambda: words(stream()).window("10s").reduce(n="count(*)"),
    "sliding windows": lambda: words(stream()).window("10s", slide="3s").reduce(n="count(*)"),
    "windows with stragglers that still count": lambda: words(
        stream(tweets(40, disorder_s=4))
    ).window("10s", lateness="5s").reduce(n="count(*)"),
    "windows with stragglers that come too late": lambda: words(
        stream(tweets(40, disorder_s=14))
    ).window("5s", lateness="1s").reduce(n="count(*)"),
    "sliding windows with stragglers late for some of them": lambda: words(
        stream(tweets(40, disorder_s=7))
    ).window("9s", slide="3s", lateness="1s").reduce(n="count(*)"),
    "windows after a star": lambda: stream().map("*", "size + 1 AS next").key("user").window(
        "10s", slide="5s"
    ).reduce(top="max(next)"),
    "a filter after windows": lambda: stream().key("user").window("10s").reduce(
        total="sum(size)"
    ).filter("total > 6").map("user", "window_end", "total"),
    "two streams merged": merged,
    "two streams merged into windows": merged_windows,
    "a pair that emits at once": lambda: stream().pair(Counting()),
    "a pair and steps after it": lambda: stream().pair(Counting()).filter("n > 2").map(
        "key", "total + n AS both"
    ),
    "a pair after native steps": lambda: stream().filter("size > 0").map("*").pair(Counting()),
    "a windowed pair": lambda: stream().key("user").window("10s").pair(FirstAndLast()),
    "a windowed pair after steps that no marker would survive": lambda: stream().filter(
        "size > 0"
    ).map(
        "explode(split(text, ' ')) AS text", "1 / size AS part", "user", key="user"
    ).filter("text <> ''").window("10s").pair(FirstAndLast()),
    "a windowed pair with sliding windows and stragglers": lambda: stream(
        tweets(40, disorder_s=7)
    ).key("user").window("9s", slide="3s", lateness="1s").pair(FirstAndLast()),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOWS)
def test_spark_equals_the_reference(name: str, spark: SparkSession, tmp_path: Path) -> None:
    ran = assert_engines_agree(spark, FLOWS[name], tmp_path / "run")
    assert ran.late > 0 or "too late" not in name
    assert ran.handle.account.quarantined == ran.late

"""The workloads by name, so that every command lists and runs the same ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headway.errors import FlowError
from headway.flow.rates import Rate
from headway.flow.sources import replay
from headway.flow.stream import Stream
from headway.flow.topics import RecordMaker
from headway.workloads.keys import key_counts, key_counts_pair
from headway.workloads.makers.clicks import Clicks
from headway.workloads.makers.disorder import Disorder
from headway.workloads.makers.keyed import Keyed
from headway.workloads.makers.tweets import Tweets
from headway.workloads.sessions import user_sessions
from headway.workloads.words import (
    frequent_words,
    frequent_words_pair,
    windowed_words,
    windowed_words_pair,
)

Build = Callable[[Stream], Stream]

USERS = 10_000
# A user clicks every ten minutes on average, so one pause in twenty is longer than half an hour.
# Replayed faster than this, event time runs ahead of the clock and sessions end within seconds.
BROWSING = Disorder(per_s=USERS / 600, jitter="1min")


@dataclass(frozen=True, slots=True)
class Workload:
    """A flow that is ready to run; `time` is the event time, None where arrival is meant."""

    name: str
    sentence: str
    maker: RecordMaker
    native: Build | None
    pair: Build | None
    goal: str
    time: str | None = None

    def source(self, rate: Rate = None, count: int | None = None) -> Stream:
        """The workload's own records at a rate, `count` of them or without end."""
        return replay(self.maker, rate=rate, time=self.time, count=count)


def named(name: str) -> Workload:
    """The workload of that name."""
    if name not in WORKLOADS:
        raise FlowError(f"there is no workload {name!r}; there are {', '.join(WORKLOADS)}")
    return WORKLOADS[name]


WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload(
            name="sessions",
            sentence="Sessions of clicks, told when their user comes back after half an hour.",
            maker=Clicks(keys=USERS, disorder=BROWSING),
            native=None,
            pair=user_sessions,
            goal="mean <= 500ms",
            time="time",
        ),
        Workload(
            name="words",
            sentence="Words of tweets that were counted at least a hundred times.",
            maker=Tweets(),
            native=frequent_words,
            pair=frequent_words_pair,
            goal="p99 <= 1s",
        ),
        Workload(
            name="windows",
            sentence="Words of tweets, counted in windows of 30 seconds.",
            maker=Tweets(),
            native=windowed_words,
            pair=windowed_words_pair,
            goal="p99 <= 3s per window",
        ),
        Workload(
            name="keys",
            sentence="Running counts of keys in narrow records.",
            maker=Keyed(),
            native=key_counts,
            pair=key_counts_pair,
            goal="p99 <= 1s",
        ),
    )
}

"""`headway demo`: count the words of made tweets on Spark, without a broker or through one."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from headway.cli.options import (
    REPORT_FOLDER,
    GoalText,
    Json,
    Length,
    MetricsPort,
    ReportFolder,
    seconds_or_none,
)
from headway.cli.outcome import say
from headway.cli.running.finish import tell
from headway.cli.running.follow import Starter, Wanted
from headway.cli.running.top_words import TopWords
from headway.cli.running.watched_run import new_folder, watch_run
from headway.dashboard.live import Watched
from headway.flow.goals import parse_goal
from headway.flow.graph import Flow
from headway.flow.sources import replay, topic
from headway.testing.broker import Broker
from headway.testing.feeder import Feed, Feeder
from headway.workloads.makers.tweets import Tweets
from headway.workloads.words import windowed_words

GOAL = "p99 <= 5s"
WARM_S = 3.0
WARMUP = 3
TOPIC = "tweets"
KAFKA_GRACE_S = 8.0  # for the last windows to close
GRACE_S = 60.0  # for the last windows to close, and for a slow machine to catch up


def demo(
    context: typer.Context,
    length: Length = None,
    rate: Annotated[int, typer.Option(min=1, help="Tweets per second.")] = 2_000,
    goal: GoalText = GOAL,
    report: ReportFolder = REPORT_FOLDER,
    data: Annotated[
        Path | None, typer.Option(help="A new folder for the run's log and state.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="20 s with windows of 5 s.")] = False,
    kafka: Annotated[bool, typer.Option("--kafka", help="Through a Kafka broker.")] = False,
    metrics_port: MetricsPort = None,
    as_json: Json = False,
) -> None:
    """Count the words of tweets in windows for a minute, then write a report."""
    size = "5s" if quick else "10s"
    for_s = seconds_or_none(length, "--for") or (20.0 if quick else 60.0)
    words = TopWords()
    limit = parse_goal(goal) if goal else None
    folder = data or new_folder("demo")
    title = f"Words of {rate:,} made tweets a second, counted in windows of {size}"
    with ExitStack() as stack:
        flow, grace_s = demo_flow(words, rate, for_s, size), GRACE_S
        warm_spark(context.obj, demo_flow(TopWords(), rate, WARM_S, size), folder)
        if kafka:
            what = Feed(Tweets(), TOPIC, open_broker(stack).at, rate, max(1, round(rate * for_s)))
            flow, grace_s = kafka_flow(words, what, size), KAFKA_GRACE_S
            stack.enter_context(Feeder(what))
        watched = Watched(title, limit, for_s, WARMUP, grace_s)
        wanted = Wanted(flow, limit, folder, metrics_port=metrics_port)
        result = watch_run(context.obj, wanted, watched, report / "demo.html", words.top)
    tell(result, as_json=as_json)


def open_broker(stack: ExitStack) -> Broker:
    """A broker with the demo's topic, for as long as the demo runs."""
    say(Console(stderr=True), "starting a Kafka broker ...")
    broker = stack.enter_context(Broker())
    broker.create(TOPIC, partitions=2)
    return broker


def kafka_flow(words: TopWords, what: Feed, size: str) -> Flow:
    """Windowed word count over a topic; it ends when it is stopped, for a topic has no end."""
    tweets = topic(TOPIC, at=what.at, schema=what.maker.schema)
    return windowed_words(tweets, size).to(words.take, name="top-words")


def warm_spark(start: Starter, flow: Flow, output: Path) -> None:
    """Start Spark and run a few batches of the flow, so that the demo shows it at work.

    A JVM that has just started takes seconds for its first batches, and those that wait for them
    would be all that a run of a minute shows.
    """
    say(Console(stderr=True), "starting Spark and warming it up, which takes some 20 seconds ...")
    with TemporaryDirectory(prefix="headway-") as folder:
        handle = start(Wanted(flow, None, Path(folder), output=output))
        handle.wait(GRACE_S)
        handle.stop()


def demo_flow(words: TopWords, rate: int, for_s: float, size: str) -> Flow:
    """Windowed word count over made tweets, into the live view; it ends when `for_s` are over."""
    tweets = replay(Tweets(), rate=rate, count=max(1, round(rate * for_s)))
    return windowed_words(tweets, size).to(words.take, name="top-words")

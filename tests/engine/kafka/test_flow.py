"""A flow from Kafka to Kafka on Spark: exact, through transactions, growth and a broker's death."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import headway as hw
from headway.clock import SystemClock
from headway.engine.spark.run import RunHandle
from headway.errors import TopicError
from headway.measure.summary import summarise
from headway.testing.broker import Broker, answers_in
from headway.testing.compare import compare
from headway.testing.crashes import survive
from headway.testing.job import Job
from headway.testing.replayed import published, reference_outcome

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SETTINGS = hw.Settings(
    master="local[2]",
    pace=hw.Pace(interval_s=0.1, max_rows=400),
    until="stopped",
    spark={"spark.sql.streaming.minBatchesToRetain": "10000"},
)
CLOCK = SystemClock()


def counts(broker: Broker, topic: str) -> hw.Flow:
    """Running counts of each key, from one topic into another."""
    broker.create(f"{topic}-counts", partitions=2)
    records = hw.topic(topic, at=broker.at, schema="n bigint", key="who")
    return records.key("who").reduce(n="count(*)").to(f"{broker.at}/{topic}-counts")


def send(broker: Broker, topic: str, numbers: range) -> None:
    with hw.Distributor(topic, at=broker.at) as to:
        for number in numbers:
            to.send({"n": number}, key=f"k{number % 7}")


def until_answered(run: RunHandle, count: int) -> None:
    deadline = CLOCK.steady_s() + 120
    while run.account.answered + run.account.quarantined < count:
        assert run.active, run.error
        assert CLOCK.steady_s() < deadline, str(run.account)
        CLOCK.sleep(0.05)


def final_counts(broker: Broker, topic: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, row in answers_in(f"{broker.address}/{topic}-counts"):
        found[row["who"]] = max(row["n"], found.get(row["who"], 0))
    return found


def test_what_a_transaction_gave_up_is_no_record_and_the_account_balances(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    producer = Producer({"bootstrap.servers": broker.address, "transactional.id": topic})
    producer.init_transactions(30)
    flow = counts(broker, topic)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        for number in range(6):
            producer.begin_transaction()
            for place in range(10):
                value = b"{bad" if place == 9 else b'{"n": 1}'
                producer.produce(topic, value, f"k{place}", partition=place % 2)
            producer.flush(30)
            (producer.abort_transaction if number % 3 == 2 else producer.commit_transaction)(30)
        until_answered(run, 40)
    assert (run.account.answered, run.account.quarantined) == (36, 4)
    assert run.account.blank >= 8  # marks of four transactions, and what the others left
    assert run.account.balanced
    assert final_counts(broker, topic) == {f"k{place}": 4 for place in range(9)}


def test_a_topic_may_be_empty_lopsided_and_grow_while_it_is_read(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = counts(broker, topic)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        CLOCK.sleep(1.0)
        assert run.account.answered == 0
        with hw.Distributor(topic, at=broker.at, partition=lambda k, v, n: 1) as to:
            for number in range(1_500):
                to.send({"n": number}, key=f"k{number % 7}")
        until_answered(run, 1_500)
        broker.grow(topic, 4)
        with hw.Distributor(topic, at=broker.at, partition=lambda k, v, n: 3) as to:
            for number in range(1_500, 2_000):
                to.send({"n": number}, key=f"k{number % 7}")
        until_answered(run, 2_000)
    assert run.account.balanced
    assert sum(final_counts(broker, topic).values()) == 2_000
    assert max(line.rows for line in run.lines()) <= 400


def test_a_clock_that_is_ahead_is_told_and_no_latency_is_negative(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = counts(broker, topic)
    ahead_us = 60_000_000  # more than any batch takes here: what is less cannot be told apart
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        with hw.Distributor(topic, at=broker.at) as to:
            for number in range(100):
                at_us = CLOCK.now_us() + (ahead_us if number % 2 else 0)
                to.send({"n": number}, key="k", arrival_us=at_us)
        until_answered(run, 100)
    lines = [line for line in run.lines() if line.rows]
    assert max(line.clock_ahead_s for line in lines) > 10
    assert min(line.latency["min"] for line in lines) == 0
    assert all(phase["mean"] >= 0 for line in lines for phase in line.phases.values())
    assert summarise(lines).clock_ahead_s > 10


def test_a_sink_whose_topic_is_not_there_is_told_before_anything_starts(
    broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = hw.topic(topic, at=broker.at, schema="n bigint").to(f"{broker.at}/{topic}-countz")
    with pytest.raises(TopicError, match="there is no topic"):
        hw.run(flow, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_records_of_yesterday_are_set_aside_and_counted(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    broker.create(f"{topic}-counts", partitions=1)
    records = hw.topic(topic, at=broker.at, schema="at double", time="at")
    flow = records.window("1s").reduce(n="count(*)").to(f"{broker.at}/{topic}-counts")
    # A whole second: else a window may close between two batches that both have its records.
    now_s = CLOCK.now_us() // 1_000_000
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        for first_s in (now_s, now_s + 10, now_s - 86_400):
            known = run.account.answered + run.account.quarantined
            with hw.Distributor(topic, at=broker.at) as to:
                for number in range(20):
                    to.send({"at": first_s + number / 100})
            until_answered(run, known + 20)
    assert (run.account.answered, run.account.quarantined) == (40, 20)
    assert run.account.balanced


@pytest.mark.slow
@pytest.mark.long
def test_a_broker_that_dies_and_returns_costs_time_and_nothing_else(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = counts(broker, topic)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        send(broker, topic, range(1_000))
        until_answered(run, 400)
        broker.kill()
        CLOCK.sleep(3.0)
        broker.start()
        send(broker, topic, range(1_000, 2_000))
        until_answered(run, 2_000)
    assert run.account.balanced
    wanted = {f"k{key}": len(range(key, 2_000, 7)) for key in range(7)}
    assert final_counts(broker, topic) == wanted


@pytest.mark.slow
@pytest.mark.long
def test_a_run_killed_around_its_transaction_answers_each_batch_once(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    send(broker, topic, range(2_000))
    job = Job(counts(broker, topic), tmp_path / "run", SETTINGS, until_records=2_000)
    survived = survive(job, ("computed:2",), spark)  # after it is published: see test_realtime.py
    assert survived.ending.how == "done"
    assert survived.ending.account.answered == 2_000
    wanted = reference_outcome(job.flow, job.folder).answers
    assert not (found := compare(wanted, published(job.flow, job.folder))), str(found)

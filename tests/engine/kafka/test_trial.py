"""A flow from Kafka to Kafka is profiled in both modes, and leaves no trace on the broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.engine.kafka.borrowed import sample_of
from headway.engine.kafka.client import shared_admin
from headway.engine.spark.learning import profiling
from headway.engine.spark.learning.profiling import profile_flow
from headway.engine.spark.learning.streaming import RATES, schedule_of, streams
from headway.engine.spark.learning.trial import Trial
from headway.errors import PlanError
from headway.measure.costs.stores import STORES
from headway.model.candidate import Candidate, Load
from headway.model.predict import predict
from headway.testing.broker import Broker, messages_in
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def counts(broker: Broker, topic: str) -> hw.Flow:
    broker.create(f"{topic}-counts", partitions=1)
    records = hw.topic(topic, at=broker.at, schema="n bigint", key="who")
    return records.key("who").reduce(n="count(*)").to(f"{broker.at}/{topic}-counts")


def topics_of(broker: Broker) -> set[str]:
    """All topics but Kafka's own."""
    found = shared_admin(broker.address).list_topics().topics
    return {name for name in found if not name.startswith("__")}


@pytest.mark.long
def test_both_modes_are_profiled_with_topics_of_the_trials_own(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiling, "FILLED", 150_000)  # less than a user's trial has to send
    flow = counts(broker, topic)
    with hw.Distributor(topic, at=broker.at) as to:
        for number in range(2_000):
            to.send({"n": number}, key=f"k{number % 7}")
    before = topics_of(broker)
    said: list[str] = []
    notes: set[str] = set()
    trial = Trial(
        50.0, hw.Settings(), tmp_path / "run", lambda gone_s, note: notes.add(note), said.append
    )
    found = profile_flow(flow, trial)
    assert said == []
    assert "real-time mode" in notes
    assert found.batch.batches
    assert found.batch.kept_s.known == STORES
    assert found.batch.phases_s["publish"].at(7) > 0  # answers went to a topic, though not to his
    rates = [each.rate_per_s for each in found.stream.stretches]
    assert rates
    assert all(0.8 * RATES[0] <= rate <= 1.2 * RATES[-1] for rate in rates)
    foretold = predict(found, Candidate("real-time", 1, 2, 2, 1), Load(1_000.0))
    assert 0 < foretold.mean_s < 5.0
    assert list(messages_in(f"{broker.address}/{topic}-counts")) == []
    until(lambda: topics_of(broker) == before)


def test_a_topic_without_records_teaches_nothing_and_that_is_said(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = counts(broker, topic)
    with pytest.raises(PlanError, match=f"{topic}.* has no records to learn from"):
        profile_flow(flow, Trial(2.0, hw.Settings(), tmp_path / "run"))


def test_records_are_sampled_from_the_oldest_on(broker: Broker, topic: str) -> None:
    with hw.Distributor(topic, at=broker.at, partition=lambda key, value, n: 0) as to:
        for number in range(30):
            to.send(b"%d" % number, key=b"k")
    assert sample_of(broker.address, topic, 10) == [(b"k", b"%d" % n) for n in range(10)]
    assert len(sample_of(broker.address, topic, 100)) == 30


def test_a_flow_that_goes_by_the_time_in_its_records_is_not_tried_twice(broker: Broker) -> None:
    source = hw.topic("clicks", at=broker.at, schema="n bigint, at timestamp", time="at")
    flow = source.key("n").window("1s").reduce(c="count(*)").to(f"{broker.at}/out")
    assert not streams(flow)


def test_a_trial_warms_up_and_then_gives_each_rate_its_time() -> None:
    steps = schedule_of(30.0).steps
    assert [rate for _, rate in steps] == [RATES[1], *RATES]
    assert sum(seconds for seconds, _ in steps) == pytest.approx(30.0)

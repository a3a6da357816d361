"""A flow is profiled with batches of many sizes, and its answers go to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.engine.spark.learning.profiling import answering_nobody, later_half, profile_flow
from headway.engine.spark.learning.trial import Trial, stores_tried
from headway.errors import FlowError
from headway.flow.graph import together
from headway.measure.costs.profile import load_profile
from headway.measure.costs.stores import STORES
from headway.testing.logs import made_lines
from headway.workloads.makers.keyed import Keyed


def test_answers_go_to_nobody_and_records_come_at_once(tmp_path: Path) -> None:
    flow = hw.replay(Keyed(keys=5), rate=10).to(f"parquet:{tmp_path / 'out'}")
    quiet = answering_nobody(flow)
    assert quiet.sinks[0].target.kind == "callback"
    assert quiet.sources[0].topic.rate.steps == ()  # type: ignore[union-attr]
    assert quiet.fingerprint != ""
    assert flow.sinks[0].target.kind == "parquet"


@pytest.mark.spark
@pytest.mark.long
def test_a_profile_tells_what_batches_of_several_sizes_cost(
    spark: SparkSession, tmp_path: Path
) -> None:
    records = hw.replay(Keyed(keys=50), rate=1_000)
    flow = records.key("key").reduce(n="count(*)").to(f"parquet:{tmp_path / 'out'}")
    notes: list[str] = []
    trial = Trial(6.0, hw.Settings(), tmp_path / "run", lambda gone_s, note: notes.append(note))
    learned = profile_flow(flow, trial)
    assert {"warm-up", "10 records"} <= set(notes)
    assert learned.flow == flow.fingerprint
    assert learned.batch.batches >= 8
    assert 0.01 < learned.batch_s(10) <= learned.batch_s(100_000)
    assert learned.batch.keys.at(10) <= 10.5
    assert 0 < learned.batch.phases_s["map"].points <= learned.batch.batches
    assert learned.batch.kept_s.known == STORES  # both were tried, by turns
    assert learned.batch.kept_s.held_bytes.steps
    assert not (tmp_path / "out").exists()
    assert load_profile(tmp_path / "run" / "profile.json").batch.batches  # any run leaves one


@pytest.mark.spark
def test_a_frame_is_not_profiled_at_will(spark: SparkSession, tmp_path: Path) -> None:
    rated = spark.readStream.format("rate").load()
    with pytest.raises(FlowError, match="learned while it runs"):
        profile_flow(hw.stream(rated).to("console"), Trial(5.0, hw.Settings(), tmp_path))


def test_the_first_half_of_a_trial_is_warm_up_if_enough_is_left() -> None:
    lines = made_lines(100)
    later = later_half(lines)
    assert 40 <= len(later) <= 60
    assert later == lines[-len(later) :]
    assert later_half(lines[:20]) == lines[:20]
    assert later_half([]) == []


def test_states_of_several_parts_are_not_tried_in_memory() -> None:
    records = hw.replay(Keyed(keys=5), rate=1)
    one, other = (
        records.key("key").reduce(n="count(*)").to(f"parquet:{name}", name=name) for name in "ab"
    )
    assert stores_tried(one, hw.Settings()) == ("rocksdb", "memory")
    assert stores_tried(one, hw.Settings(store="memory")) == ("memory",)
    assert stores_tried(together(one, other), hw.Settings()) == ("rocksdb",)

"""Which flows suit which mode: each obstacle is told by its step, with a way round it."""

from __future__ import annotations

import json

import pytest

import headway as hw
from headway.errors import FlowError
from headway.flow.stream import Stream
from headway.plan.modes import RealTime, check_mode, check_suits, obstacles
from headway.workloads.keys import KeyCounts
from headway.workloads.makers.keyed import Keyed

AT = "kafka://broker:9092"


def records() -> Stream:
    return hw.topic("in", at=AT, schema="n bigint", key="who")


def only_obstacle(flow: hw.Flow) -> str:
    (found,) = obstacles(flow)
    with pytest.raises(FlowError, match="cannot run in real-time mode"):
        check_suits(flow, "real-time")
    check_suits(flow, "micro-batch")
    return found


@pytest.mark.parametrize(
    "flow",
    [
        records().map("n + 1 AS m").filter("m > 2").to(f"{AT}/out"),
        records().key("who").reduce(n="count(*)").to(f"{AT}/out"),
        records().key("who").window("10s", slide="5s").reduce(n="sum(n)").to(f"{AT}/out"),
        records().merge(hw.topic("too", at=AT, schema="n bigint", key="who")).to(f"{AT}/out"),
    ],
    ids=["stateless", "running", "windowed", "merged"],
)
def test_native_flows_from_kafka_to_kafka_suit_either_mode(flow: hw.Flow) -> None:
    assert obstacles(flow) == []
    check_suits(flow, "real-time")


def test_a_pair_is_python() -> None:
    keyed = hw.topic("in", at=AT, schema="key string, value bigint")
    assert "'pair" in only_obstacle(keyed.pair(KeyCounts()).to(f"{AT}/out"))


def test_a_replay_is_no_topic() -> None:
    flow = hw.replay(Keyed(), rate=1).key("key").reduce(n="count(*)").to(f"{AT}/out")
    assert "only topics of Kafka's" in only_obstacle(flow)


def test_a_folder_takes_whole_batches() -> None:
    flow = records().key("who").reduce(n="count(*)").to("parquet:out")
    assert "takes whole batches" in only_obstacle(flow)


def test_avro_with_arrays_is_for_micro_batch() -> None:
    plain, array = "long", {"type": "array", "items": "long"}
    for kind in (plain, array):
        fields = [{"name": "n", "type": kind}]
        avro = json.dumps({"type": "record", "name": "r", "fields": fields})
        flow = hw.topic("in", at=AT, format="avro", avro=avro).to(f"{AT}/out")
        if kind == array:
            assert "Avro with arrays or decimals" in only_obstacle(flow)
        else:
            check_suits(flow, "real-time")


def test_a_stream_that_forks_and_meets_again() -> None:
    one = records()
    flow = one.filter("n > 1").merge(one.filter("n < 9")).to(f"{AT}/out")
    assert "feeds several steps" in only_obstacle(flow)


def test_a_mode_that_is_none() -> None:
    with pytest.raises(ValueError, match="must be 'micro-batch' or 'real-time'; got 'fast'"):
        check_mode("fast")
    with pytest.raises(ValueError, match="got 'fast'"):
        hw.Settings(mode="fast")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["checkpoint_s", "tasks", "shuffle_bytes", "fetch_bytes"])
def test_knobs_that_make_no_sense(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be more than 0"):
        RealTime(**{name: 0})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must not be negative"):
        RealTime(shuffle_wait_s=-1)

"""Real-time mode: the same answers as in micro-batch, from one checkpoint, in milliseconds."""

from __future__ import annotations

import io
import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import fastavro
import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.clock import SystemClock
from headway.engine.kafka.set_aside import REASON
from headway.engine.kafka.sink import FINAL_MARK
from headway.engine.spark.realtime.needs import check_slots, wanted_session
from headway.engine.spark.realtime.query import RealTimeQuery
from headway.engine.spark.run import RunHandle
from headway.engine.topics.quarantine import read_quarantine
from headway.errors import RunError, SessionError
from headway.flow.topics import EventTime
from headway.measure.phases import REAL_TIME
from headway.plan.modes import RealTime
from headway.testing.broker import Broker, messages_in, rows_in, versions_in
from headway.testing.crashes import Child, completed, snapshot_of
from headway.testing.job import Job

pytestmark = [pytest.mark.spark, pytest.mark.slow]
CLOCK = SystemClock()
SETTINGS = hw.Settings(
    pace=hw.Pace(interval_s=0.1),
    until="stopped",
    mode="real-time",
    real_time=RealTime(checkpoint_s=3.0),
)


def counts(broker: Broker, topic: str) -> hw.Flow:
    """Running counts of each key, from one topic into another."""
    broker.create(f"{topic}-counts", partitions=2)
    records = hw.topic(topic, at=broker.at, schema="n bigint", key="who")
    return records.key("who").reduce(n="count(*)", s="sum(n)").to(f"{broker.at}/{topic}-counts")


def send(broker: Broker, topic: str, numbers: range) -> None:
    with hw.Distributor(topic, at=broker.at) as to:
        for number in numbers:
            to.send({"n": number}, key=f"k{number % 7}")


def wait_for(run: RunHandle, reached: Iterator[bool]) -> None:
    deadline = CLOCK.steady_s() + 90
    while not next(reached):
        assert run.active, run.error
        assert CLOCK.steady_s() < deadline, str(run.account)
        CLOCK.sleep(0.1)


def newest(broker: Broker, topic: str) -> dict[str, dict[str, int]]:
    """What a consumer holds that keeps the highest version of each key; versions have no gap."""
    seen: dict[str, dict[int, dict[str, int]]] = defaultdict(dict)
    for version, row in versions_in(f"{broker.address}/{topic}-counts"):
        known = seen[row["who"]].setdefault(version, row)
        assert known == row, "two answers of one version differ"
    return {who: versions[max(versions)] for who, versions in seen.items()}


def answered(broker: Broker, topic: str, wanted: int) -> Iterator[bool]:
    while True:
        yield sum(row["n"] for row in newest(broker, topic).values()) >= wanted


def accounted(run: RunHandle, wanted: int) -> Iterator[bool]:
    while True:
        yield run.account.answered + run.account.quarantined >= wanted


def test_states_that_rest_in_memory_keep_a_run_in_micro_batch(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow, settings = counts(broker, topic), replace(SETTINGS, mode="micro-batch", store="memory")
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=settings) as run:
        send(broker, topic, range(100))
        wait_for(run, accounted(run, 100))
        with pytest.raises(RunError, match="real-time mode reads them from RocksDB only"):
            run.switch("real-time")
        send(broker, topic, range(100, 200))
        wait_for(run, accounted(run, 200))  # it goes on as it was
    with pytest.raises(RunError, match="begin anew in another folder"):
        hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS)
    known = replace(settings, store=None)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=known) as run:
        assert run.store == "memory"


def test_every_record_is_answered_at_once_with_its_version(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = counts(broker, topic)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        assert run.mode == "real-time"
        send(broker, topic, range(700))
        wait_for(run, answered(broker, topic, 700))
        wait_for(run, accounted(run, 700))
        wait_for(run, (len(run.lines()) > 1 for _ in count()))
    assert all(line.durations_s["queryPlanning"] > 0 for line in run.lines())  # at each checkpoint
    found = [row for _, row in versions_in(f"{broker.address}/{topic}-counts")]
    assert len(found) == 700  # one for each record, unlike micro-batch
    expected = {f"k{k}": (100, sum(range(k, 700, 7))) for k in range(7)}
    assert {w: (r["n"], r["s"]) for w, r in newest(broker, topic).items()} == expected
    assert run.account.answered == 700
    assert run.account.balanced, str(run.account)
    line = next(line for line in run.lines() if line.latency["count"])  # the first may end too soon
    assert line.because == "real-time mode"
    assert line.latency["count"] < 700
    assert line.latency["max"] < 60
    assert list(line.phases) == list(REAL_TIME)
    assert line.phases["fetch"]["mean"] + line.phases["pause"]["mean"] > 0
    whole_s = sum(phase["mean"] for phase in line.phases.values())
    assert whole_s == pytest.approx(line.latency["mean"], rel=0.2)


def test_what_cannot_be_read_is_set_aside_with_its_reason(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = counts(broker, topic)
    bad = [b"{nonsense", b"", b'{"n": "five"}', b'{"n": 1.5}', b"[1]", b'{"n": 1} tail', b"3"]
    broker.create(f"{topic}-bad")
    settings = replace(SETTINGS, quarantine=f"{broker.at}/{topic}-bad")
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=settings) as run:
        with hw.Distributor(topic, at=broker.at) as to:
            for value in bad:
                to.send(value, key="bad")
        send(broker, topic, range(70))
        wait_for(run, accounted(run, 77))
    assert (run.account.answered, run.account.quarantined) == (70, len(bad))
    assert run.account.balanced, str(run.account)
    kept = read_quarantine(tmp_path / "run" / "quarantine" / flow.sinks[0].name).to_pylist()
    reasons = {row["raw"]: row["reason"] for row in kept}
    assert set(reasons) == set(bad)
    assert "1.5 is not a int64" in reasons[b'{"n": 1.5}']
    told = list(messages_in(f"{broker.address}/{topic}-bad"))
    assert {value: headers[REASON].decode() for headers, value in told} == reasons
    assert len(told) == len(bad)


AVRO = """{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"},
    {"name": "word", "type": ["null", "string"], "doc": "it's optional"}]}"""


def test_records_in_avro_are_read_whole_or_set_aside(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    broker.create(f"{topic}-counts", partitions=2)
    records = hw.topic(topic, at=broker.at, format="avro", avro=AVRO)
    flow = records.key("word").reduce(n="count(*)", s="sum(n)").to(f"{broker.at}/{topic}-counts")
    good = [in_avro({"n": n, "word": f"w{n % 3}"}) for n in range(30)]
    bad = [b"", b"\x05", good[0] + b"x", good[0][:-1]]
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        with hw.Distributor(topic, at=broker.at) as to:
            for value in (*good, *bad):
                to.send(value)
        wait_for(run, accounted(run, 34))
    assert (run.account.answered, run.account.quarantined) == (30, 4)
    kept = read_quarantine(tmp_path / "run" / "quarantine" / flow.sinks[0].name).to_pylist()
    assert {row["raw"] for row in kept} == set(bad)
    found: dict[str, dict[str, int]] = {}
    for _, row in versions_in(f"{broker.address}/{topic}-counts"):
        found[row["word"]] = max(row, found.get(row["word"], row), key=lambda r: r["n"])
    expected = {f"w{w}": (10, sum(range(w, 30, 3))) for w in range(3)}
    assert {word: (row["n"], row["s"]) for word, row in found.items()} == expected


def in_avro(record: dict[str, object]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(AVRO)), record)
    return out.getvalue()


def fail(query: RealTimeQuery) -> None:
    raise SessionError("not today")


@pytest.mark.long
def test_a_flow_changes_its_mode_and_back_under_load(
    spark: SparkSession,
    broker: Broker,
    topic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flow = counts(broker, topic)
    settings = replace(SETTINGS, mode="micro-batch")
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=settings) as run:
        send(broker, topic, range(700))
        wait_for(run, accounted(run, 700))
        with monkeypatch.context() as broken:
            broken.setattr(RealTimeQuery, "start", fail)
            with pytest.raises(RunError, match="not today\nThe flow goes on in micro-batch"):
                run.switch("real-time")
        assert (run.active, run.mode) == (True, "micro-batch")
        assert run.switch("real-time") > 0
        send(broker, topic, range(700, 1400))
        wait_for(run, answered(broker, topic, 1400))
        rarer = replace(run.settings.real_time, checkpoint_s=8.0)
        assert run.switch("real-time", real_time=rarer) > 0
        assert run.settings.real_time == rarer
        assert run.switch("real-time", real_time=rarer) == 0
        assert run.switch("micro-batch") > 0
        send(broker, topic, range(1400, 2100))
        wait_for(run, accounted(run, 2100))
        assert run.switch("micro-batch") == 0
    expected = {f"k{k}": (300, sum(range(k, 2100, 7))) for k in range(7)}
    assert {w: (r["n"], r["s"]) for w, r in newest(broker, topic).items()} == expected
    assert run.account.answered == 2100
    assert run.account.balanced, str(run.account)
    assert [line.batch for line in run.lines()] == list(range(len(run.lines())))
    assert "real-time mode" in {line.because for line in run.lines()}


@pytest.mark.parametrize("phases", [True, False])  # without them the states are the same
def test_a_run_that_was_stopped_goes_on_in_the_other_mode(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path, phases: bool
) -> None:
    flow = counts(broker, topic)
    settings = replace(SETTINGS, phases=phases)
    given = {"folder": tmp_path / "run", "session": spark, "settings": settings}
    with hw.run(flow, **given) as run:  # type: ignore[arg-type]
        send(broker, topic, range(140))
        wait_for(run, accounted(run, 140))
        send(broker, topic, range(140, 210))
        wait_for(run, answered(broker, topic, 210))
    with hw.run(flow, mode="micro-batch", **given) as run:  # type: ignore[arg-type]
        wait_for(run, accounted(run, 210))
    assert {row["n"] for row in newest(broker, topic).values()} == {30}
    assert run.account.answered == 210
    assert run.account.balanced, str(run.account)


def windowed(broker: Broker, topic: str) -> hw.Flow:
    """Counts of each key and ten seconds, by the time that records bring along."""
    broker.create(f"{topic}-counts", partitions=2)
    time = EventTime("at", unit="s")
    records = hw.topic(topic, at=broker.at, schema="at bigint", key="who", time=time)
    counted = records.key("who").window("10s").reduce(n="count(*)")
    return counted.to(f"{broker.at}/{topic}-counts")


def send_at(broker: Broker, topic: str, *times: int) -> None:
    with hw.Distributor(topic, at=broker.at) as to:
        for time in times:
            to.send({"at": time}, key="a")


def told(broker: Broker, topic: str, final: bool) -> list[tuple[str, int]]:
    """The ends of windows and their counts, as running or as final answers tell them."""
    rows = rows_in(f"{broker.address}/{topic}-counts")
    return [(row["window_end"][14:19], row["n"]) for h, row in rows if (FINAL_MARK in h) == final]


def test_windows_are_answered_with_each_record_and_once_for_good(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = windowed(broker, topic)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        send_at(broker, topic, 1, 10, 11, 4)
        wait_for(run, iter(lambda: len(told(broker, topic, final=False)) == 4, None))
        send_at(broker, topic, 35)  # moves the watermark at the next checkpoint
        wait_for(run, iter(lambda: len(told(broker, topic, final=True)) == 2, None))
        lines = len(run.lines())
        wait_for(run, iter(lambda: len(run.lines()) > lines + 1, None))
        send_at(broker, topic, 5, 36)  # the first one is late by now
        wait_for(run, accounted(run, 7))
    running = told(broker, topic, final=False)
    assert sorted(running) == [
        ("00:10", 1), ("00:10", 2), ("00:10", 3), ("00:20", 1), ("00:40", 1), ("00:40", 2),
    ]  # fmt: skip
    assert sorted(told(broker, topic, final=True)) == [("00:10", 3), ("00:20", 1)]
    assert (run.account.answered, run.account.quarantined) == (6, 1)
    assert run.account.balanced, str(run.account)
    (late,) = read_quarantine(tmp_path / "run" / "quarantine" / flow.sinks[0].name).to_pylist()
    assert late["why"] == "late"


@pytest.mark.long
@pytest.mark.parametrize("phases", [True, False])  # without them the states are the same
def test_a_window_that_opened_in_real_time_closes_in_micro_batch(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path, phases: bool
) -> None:
    flow, settings = windowed(broker, topic), replace(SETTINGS, phases=phases)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=settings) as run:
        send_at(broker, topic, 1, 10, 11)
        wait_for(run, accounted(run, 3))
        run.switch("micro-batch")
        send_at(broker, topic, 12, 35)
        wait_for(run, iter(lambda: len(told(broker, topic, final=True)) == 2, None))
    assert sorted(told(broker, topic, final=True)) == [("00:10", 2), ("00:20", 2)]


@pytest.mark.long
def test_a_window_that_opened_in_micro_batch_closes_in_real_time(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow, settings = windowed(broker, topic), replace(SETTINGS, mode="micro-batch")
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=settings) as run:
        send_at(broker, topic, 1, 2, 11)
        wait_for(run, accounted(run, 3))
        run.switch("real-time")  # window 00:20 gets no record any more
        send_at(broker, topic, 35)
        wait_for(run, iter(lambda: len(told(broker, topic, final=True)) == 2, None))
    assert sorted(told(broker, topic, final=True)) == [("00:10", 2), ("00:20", 1)]
    assert run.account.answered == 4
    assert run.account.balanced, str(run.account)


@pytest.mark.long
def test_killed_between_checkpoints_it_goes_on_and_repeats_only_versions(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    job = Job(counts(broker, topic), tmp_path / "run", SETTINGS)
    send(broker, topic, range(700))
    with Child(job) as child:
        child.wait_batches(1)
        send(broker, topic, range(700, 1400))
        until = CLOCK.steady_s() + 60
        while not next(answered(broker, topic, 1400)):
            assert child.active, child.tail()
            assert CLOCK.steady_s() < until
        child.kill()
    send(broker, topic, range(1400, 2100))
    ending = completed(replace(job, until_records=2100), spark)
    assert ending.account.answered == 2100
    assert ending.account.balanced, str(ending.account)
    assert {row["n"] for row in newest(broker, topic).values()} == {300}


@pytest.mark.long
def test_a_batch_that_was_interrupted_is_finished_before_the_mode_changes(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    slow = replace(SETTINGS, mode="micro-batch", pace=hw.Pace(interval_s=0.1, max_rows=300))
    job = Job(counts(broker, topic), tmp_path / "run", slow, die_at="published:2")
    send(broker, topic, range(1400))
    with Child(job) as child:
        assert child.wait().how == "killed"
    assert snapshot_of(job).interrupted
    ending = completed(Job(job.flow, job.folder, SETTINGS, until_records=1400), spark)
    assert ending.account.answered == 1400
    assert ending.account.balanced, str(ending.account)
    assert {row["n"] for row in newest(broker, topic).values()} == {200}


@pytest.mark.long
def test_a_broker_that_dies_and_returns_costs_time_and_nothing_else(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    flow = counts(broker, topic)
    with hw.run(flow, folder=tmp_path / "run", session=spark, settings=SETTINGS) as run:
        send(broker, topic, range(700))
        wait_for(run, answered(broker, topic, 700))
        broker.kill()
        CLOCK.sleep(1.0)
        broker.start()
        send(broker, topic, range(700, 1400))
        wait_for(run, accounted(run, 1400))
    assert {row["n"] for row in newest(broker, topic).values()} == {200}
    assert run.account.answered == 1400
    assert run.account.balanced, str(run.account)


def test_java_takes_the_options_that_keep_its_second_compiler_back(
    broker: Broker, topic: str
) -> None:
    _, wanted = wanted_session(counts(broker, topic), hw.Settings())
    options = wanted["spark.driver.extraJavaOptions"].split()
    assert any("Tier4" in option for option in options)
    known = [option for option in options if "Ignore" not in option]
    subprocess.run(["java", *known, "-version"], check=True, capture_output=True)
    micro = hw.replay([{"a": 1}]).to("console")
    assert "spark.driver.extraJavaOptions" not in wanted_session(micro, hw.Settings())[1]


def test_too_few_slots_are_told_before_the_start(spark: SparkSession) -> None:
    with pytest.raises(SessionError, match=r"takes 99 slots; Spark has \d+\. Start it with more"):
        check_slots(spark, 99)

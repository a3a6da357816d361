"""States rest in the store that a run was begun with, and Spark is told so for that query alone."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.engine.spark.folder import checkpoint_of
from headway.engine.spark.run import RunHandle
from headway.engine.spark.stores import (
    FORMAT,
    PROVIDER,
    PROVIDERS,
    heap_bytes,
    store_in,
    told_of,
    with_fixed_store,
)
from headway.errors import CheckpointError, RunError
from headway.measure.costs.profile import load_profile
from headway.measure.costs.stores import STORES, Store
from headway.plan.modes import MODES
from headway.workloads.makers.keyed import Keyed
from headway.workloads.registry import WORKLOADS
from headway.workloads.sessions import user_sessions
from tests.waiting import until


def counts(folder: Path, count: int = 5000) -> hw.Flow:
    told = hw.replay(Keyed(keys=5), count=count).key("key").reduce(n="count(*)")
    return told.to(f"parquet:{folder / 'out'}")


def brisk(store: Store | None, **more: object) -> hw.Settings:
    pace = hw.Pace(interval_s=0.05, max_rows=300)
    return hw.Settings(pace=pace, store=store, **more)  # type: ignore[arg-type]


def log_of(folder: Path, flow: hw.Flow, provider: str) -> None:
    """What Spark leaves of a query whose states a provider keeps."""
    offsets = checkpoint_of(folder, flow.sinks[0]) / "offsets"
    offsets.mkdir(parents=True)
    about = json.dumps({"batchWatermarkMs": 0, "conf": {PROVIDER: provider}})
    (offsets / "0").write_text(f"v1\n{about}\n-")


@pytest.mark.parametrize("store", STORES)
def test_the_log_of_a_checkpoint_tells_its_store(store: Store, tmp_path: Path) -> None:
    flow = counts(tmp_path)
    assert with_fixed_store(brisk(None), flow, tmp_path).store is None
    assert with_fixed_store(brisk(store), flow, tmp_path).store == store
    log_of(tmp_path, flow, PROVIDERS[store])
    assert store_in([checkpoint_of(tmp_path, flow.sinks[0])]) == store
    for asked in (None, store):
        assert with_fixed_store(brisk(asked), flow, tmp_path).store == store
    other = next(each for each in STORES if each != store)
    with pytest.raises(CheckpointError, match=f"Set store='{store}', or leave it out"):
        with_fixed_store(brisk(other), flow, tmp_path)


def test_a_store_that_is_not_spark_s_own_is_left_as_it_is(tmp_path: Path) -> None:
    flow = counts(tmp_path)
    log_of(tmp_path, flow, "org.example.OwnStateStoreProvider")
    assert with_fixed_store(brisk(None), flow, tmp_path).store is None
    assert told_of(None, tmp_path) == {}


def test_a_flow_without_states_has_no_store(tmp_path: Path) -> None:
    flow = hw.replay(Keyed(keys=5), count=10).map("key").to(f"parquet:{tmp_path / 'out'}")
    assert with_fixed_store(brisk("memory"), flow, tmp_path).store is None


def test_a_provider_among_the_settings_of_spark_is_a_choice(tmp_path: Path) -> None:
    told = hw.Settings(spark={PROVIDER: PROVIDERS["memory"]})
    assert with_fixed_store(told, counts(tmp_path), tmp_path).store == "memory"


def test_real_time_mode_is_not_begun_with_states_in_memory(tmp_path: Path) -> None:
    wanted = hw.Settings(mode="real-time", store="memory")
    with pytest.raises(RunError, match="real-time mode reads them from RocksDB only"):
        with_fixed_store(wanted, counts(tmp_path), tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("store", STORES)
def test_a_run_goes_on_with_the_store_that_it_was_begun_with(
    store: Store, spark: SparkSession, tmp_path: Path
) -> None:
    flow, before = counts(tmp_path), spark.conf.get(PROVIDER)
    first = hw.run(flow, folder=tmp_path / "run", session=spark, settings=brisk(store))
    until(lambda: len(first.lines()) >= 3)
    first.stop()
    assert first.store == store
    assert spark.conf.get(PROVIDER) == before  # that of the session is not changed
    other = next(each for each in STORES if each != store)
    with pytest.raises(CheckpointError, match="a checkpoint keeps the store"):
        hw.run(flow, folder=tmp_path / "run", session=spark, settings=brisk(other))
    second = hw.run(flow, folder=tmp_path / "run", session=spark, settings=brisk(None))
    assert second.wait(120)
    assert second.store == store
    assert {line.store for line in second.lines()} == {store}
    assert second.account.answered == 5000
    table = pyarrow.parquet.read_table(tmp_path / "out")
    assert sum({row["key"]: row["n"] for row in table.sort_by("n").to_pylist()}.values()) == 5000
    files = {path.suffix for path in (tmp_path / "run").rglob("state/0/0/*")}
    assert (".delta" in files) == (store == "memory")
    learned = load_profile(tmp_path / "run" / "profile.json").batch.kept_s
    assert learned.known == (store,)
    assert bool(learned.held_bytes.steps) == (store == "memory")
    assert learned.heap_bytes == (heap_bytes(spark) if store == "memory" else 0.0)


@pytest.mark.spark
def test_a_run_with_states_in_memory_refuses_real_time_mode_and_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.engine.spark.run.check_suits", lambda *_: None)  # but for its sink
    settings = brisk("memory", until="stopped")
    with hw.run(counts(tmp_path), folder=tmp_path / "run", session=spark, settings=settings) as run:
        with pytest.raises(RunError, match=r"begin anew in another folder with Settings\(store="):
            run.switch(MODES[1])
        until(lambda: run.account.answered == 5000)
        assert run.mode == "micro-batch"


@pytest.mark.spark
def test_a_pair_s_buckets_rest_in_either_store(spark: SparkSession, tmp_path: Path) -> None:
    told: dict[Store, list[tuple[object, ...]]] = {}
    clicks = WORKLOADS["sessions"]
    for store in STORES:
        found: list[tuple[object, ...]] = []
        flow = user_sessions(clicks.source(None, 4_000), gap="30s").to(
            lambda batch, rows, found=found: found.extend(  # type: ignore[misc]
                (row["key"], row["start"], row["clicks"]) for row in rows.to_pylist()
            )
        )
        run: RunHandle = hw.run(flow, folder=tmp_path / store, session=spark, settings=brisk(store))
        assert run.wait(120)
        assert {line.store for line in run.lines()} == {store}
        told[store] = sorted(found, key=str)
    assert told["memory"] == told["rocksdb"] != []


@pytest.mark.spark
def test_a_session_of_the_user_s_keeps_its_own_store(spark: SparkSession, tmp_path: Path) -> None:
    own = spark.newSession()
    own.conf.unset(PROVIDER)
    own.conf.unset(FORMAT)
    flow = hw.stream(own.readStream.format("rate").option("rowsPerSecond", 50).load())
    told = flow.map("value % 5 AS key", key="key").reduce(n="count(*)")
    with hw.run(
        told.to(lambda batch, rows: None), folder=tmp_path / "run", settings=brisk(None)
    ) as run:
        until(lambda: len(run.lines()) >= 2)
        assert run.store == "memory"  # Spark's default
        assert {line.store for line in run.lines()} == {"memory"}

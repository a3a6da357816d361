"""The store that the states of a run rest in: which it is, how Spark is told, and how large it is.

Spark keeps the provider of a query in its log, beside the offsets of each batch, and takes it from
there when the query is started again. So the log is what tells the store of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headway.engine.spark.folder import checkpoint_of
from headway.engine.spark.gate.offset_log import settings_in
from headway.engine.spark.settings import Settings
from headway.errors import CheckpointError
from headway.flow.graph import Flow
from headway.flow.steps import Sink
from headway.measure.costs.stores import STORE_NAMES, Store
from headway.plan.stores import check_mode_reads

STATES = "org.apache.spark.sql.execution.streaming.state"
PROVIDERS: Mapping[Store, str] = {
    "rocksdb": f"{STATES}.RocksDBStateStoreProvider",
    "memory": f"{STATES}.HDFSBackedStateStoreProvider",
}
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
# Real-time mode reads states of the second format only, the store in memory those of the first.
# RocksDB writes what changed with each batch, and whole snapshots beside the batches.
TOLD: Mapping[Store, Mapping[str, str]] = {
    "rocksdb": {PROVIDER: PROVIDERS["rocksdb"], FORMAT: "2", CHANGELOG: "true"},
    "memory": {PROVIDER: PROVIDERS["memory"], FORMAT: "1"},
}
BYTES = 1 << 20  # a mebibyte, in which Spark tells sizes


def store_of(provider: str) -> Store | None:
    """The store of a provider; None where it is not one of Spark's own."""
    return next((store for store, known in PROVIDERS.items() if known == provider), None)


def store_in(checkpoints: Iterable[Path]) -> Store | None:
    """The store that a run was begun with, as the logs of its queries tell; None for a new one."""
    found = (settings_in(checkpoint).get(PROVIDER, "") for checkpoint in checkpoints)
    return next((store for each in found if (store := store_of(each)) is not None), None)


def stateful_sinks(flow: Flow) -> list[Sink]:
    """The sinks whose parts of a flow keep states."""
    return [sink for sink in flow.sinks if flow.part_for(sink).stateful()]


def with_fixed_store(settings: Settings, flow: Flow, folder: Path) -> Settings:
    """Settings with the store, where it is no choice: a checkpoint's own, or what was asked for.

    A run goes on with the store that its checkpoint was begun with. One that was asked for and is
    another one is refused, and so is real-time mode where it could not read the states.
    """
    if not flow.stateful():
        return replace(settings, store=None)
    begun = store_in(checkpoint_of(folder, sink) for sink in stateful_sinks(flow))
    asked = settings.store or store_of(settings.spark.get(PROVIDER, ""))
    if begun and asked not in (None, begun):
        raise CheckpointError(
            f"the states of the run in {folder} rest in {STORE_NAMES[begun]}, and it is asked to "
            f"keep them in {STORE_NAMES[asked]}; a checkpoint keeps the store that it was begun "
            f"with. Set store={begun!r}, or leave it out, or give a new run folder"
        )
    found = replace(settings, store=begun or asked)
    check_mode_reads(found.mode, found.store)
    return found


def with_store(settings: Settings, flow: Flow, spark: SparkSession) -> Settings:
    """Settings that name a store: where nobody chose one it is the session's, if headway knows it.

    In real-time mode it is RocksDB, which is all that mode can read.
    """
    if not flow.stateful() or settings.store is not None:
        return settings
    own = store_of(spark.conf.get(PROVIDER, "") or PROVIDERS["memory"])
    return replace(settings, store="rocksdb" if settings.mode == "real-time" else own)


def told_of(store: Store | None, checkpoint: Path) -> dict[str, str]:
    """What a session is told while a query starts; one that was begun goes on as its log says."""
    return {} if store is None or settings_in(checkpoint) else dict(TOLD[store])


def heap_bytes(spark: SparkSession) -> float:
    """The heap of all that run tasks, where the states in memory are."""
    jvm: Any = spark._jvm
    if str(spark.sparkContext.master).startswith("local"):
        return float(jvm.java.lang.Runtime.getRuntime().maxMemory())
    context = spark.sparkContext._jsc.sc()
    executors = max(1, int(context.getExecutorMemoryStatus().size()) - 1)  # without the driver
    return float(context.executorMemory()) * BYTES * executors

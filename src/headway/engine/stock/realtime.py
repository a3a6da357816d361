"""A running count from Kafka to Kafka, by hand or by headway, each in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headway.engine.kafka.jars import connector_jars
from headway.engine.spark.realtime.query import SHORTEST, UNASKED_MS
from headway.engine.spark.run import run
from headway.engine.spark.settings import Settings
from headway.flow.graph import Flow
from headway.flow.sources import topic
from headway.keep.pacing import Pace
from headway.measure.costs.stores import Store
from headway.plan.modes import Mode, RealTime

KEYED = "key string, value bigint"
CLIENT = "kafka.bootstrap.servers"


@dataclass(frozen=True, slots=True)
class CountJob:
    """What is counted, where to, by whom and how; `stateful` False passes records on instead."""

    servers: str
    source: str
    sink: str
    folder: Path
    by: Literal["headway", "stock"] = "headway"
    mode: Mode = "real-time"
    knobs: RealTime = field(default_factory=RealTime)
    pace: Pace = field(default_factory=Pace)
    stateful: bool = True
    slots: int = 4
    phases: bool = True
    window: str | None = None  # headway only: counts of each window of this size
    store: Store | None = None  # headway only: where its states rest


def flow_of(job: CountJob) -> Flow:
    """The job as a flow."""
    at = f"kafka://{job.servers}"
    records = topic(job.source, at=at, schema=KEYED, start="latest")
    if job.window is not None:
        windows = records.key("key").window(job.window)
        return windows.reduce(n="count(*)").to(f"{at}/{job.sink}")
    if job.stateful:
        return records.key("key").reduce(n="count(*)").to(f"{at}/{job.sink}")
    return records.map("key", "value AS n").to(f"{at}/{job.sink}")


def work(job: CountJob, ready: Any, stop: Any, orders: Any = None) -> None:
    """Run the job until told to stop; `orders` brings modes with knobs, and takes the gaps."""
    if job.by == "stock":
        work_by_hand(job, ready, stop)
        return
    settings = Settings(
        master=f"local[{job.slots}]",
        pace=job.pace,
        until="stopped",
        mode=job.mode,
        store=job.store,
        real_time=job.knobs,
        phases=job.phases,
        spark={"spark.sql.shuffle.partitions": str(job.knobs.tasks)},
    )
    with run(flow_of(job), folder=job.folder / "run", settings=settings) as handle:
        ready.set()
        while handle.active and not stop.wait(0.1):
            if orders is not None and orders.poll():
                mode, knobs = orders.recv()
                orders.send(handle.switch(mode, real_time=knobs))
        handle.wait(0)
        leave_durations(job, [line.durations_s for line in handle.lines()])


def work_by_hand(job: CountJob, ready: Any, stop: Any) -> None:
    """The same as a user of stock Spark would write it, with Spark's own settings."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local[{job.slots}]")
        .config("spark.jars", ",".join(str(jar) for jar in connector_jars()))
        .config("spark.sql.shuffle.partitions", str(job.knobs.tasks))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    writer = (
        by_hand(spark, job)
        .writeStream.format("kafka")
        .option(CLIENT, job.servers)
        .option("topic", job.sink)
        .option("checkpointLocation", str(job.folder / "checkpoint"))
        .outputMode("update")
    )
    timed: Any = writer.trigger
    if job.mode == "real-time":
        millis = round(job.knobs.checkpoint_s * 1e3)
        spark.conf.set(SHORTEST, str(min(millis, UNASKED_MS)))
        writer = timed(realTime=f"{millis} milliseconds")
    else:
        writer = timed(processingTime=f"{round(job.pace.interval_s * 1e3)} milliseconds")
    query = writer.start()
    ready.set()
    while query.isActive and not stop.wait(0.2):
        pass
    done = [progress.durationMs for progress in query.recentProgress]
    query.stop()
    leave_durations(job, [{k: v / 1e3 for k, v in each.items()} for each in done])
    spark.stop()


def leave_durations(job: CountJob, batches: list[dict[str, float]]) -> None:
    """Keep what Spark says about its batches for whoever has started the job."""
    (job.folder / "durations.json").write_text(json.dumps(batches))


def by_hand(spark: SparkSession, job: CountJob) -> DataFrame:
    """The query itself."""
    raw = spark.readStream.format("kafka").option(CLIENT, job.servers)
    raw = raw.option("subscribe", job.source).option("startingOffsets", "latest")
    record = F.from_json(F.col("value").cast("string"), KEYED)
    records = raw.load().select(record.alias("record")).select("record.*")
    counted = records.groupBy("key").agg(F.count("*").alias("n"))
    made = counted if job.stateful else records.select("key", F.col("value").alias("n"))
    return made.select("key", F.to_json(F.struct("key", "n")).alias("value"))

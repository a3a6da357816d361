"""What real-time mode needs of Spark before it starts: jars, slots, and settings of its shuffle."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from headway.engine.kafka.client import partitions_of
from headway.engine.kafka.jars import connector_jars, kafka_home
from headway.engine.spark.gate.offset_log import settings_in
from headway.engine.spark.settings import Settings
from headway.errors import SessionError
from headway.flow.graph import Flow
from headway.flow.topics import KafkaTopic
from headway.plan.modes import Mode, RealTime, modes_of, suits_real_time

PARTITIONS = "spark.sql.shuffle.partitions"
SHUFFLE = "spark.shuffle.streaming"
# Java's second compiler takes the processor for seconds, again and again, in the first minute of a
# query; records wait for that. Ten times later it compiles a tenth of the methods: those that are
# hot at high rates.
COMPILER = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:Tier4InvocationThreshold=50000 "
    "-XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000 "
    "-XX:Tier4BackEdgeThreshold=400000"
)
# On few cores the threads of Java's default collector compete with the tasks; one that stops for
# some milliseconds instead, and has no threads, makes the first minute's p99 a third. It stops
# when what is new has filled its part of the heap, which Java begins small: a checkpoint every few
# seconds filled it each time, and waited for it. So the heap begins as large as it may become (of
# a quarter of the machine), and half of it is for what is new. Nor does Java stop for the room
# of Spark's classes, twice in the first seconds, where it may have as much as they need.
COLLECTOR = "-XX:+UseSerialGC -XX:NewRatio=1 -XX:InitialRAMPercentage=25 -XX:MetaspaceSize=256m"
FEW_CORES = 4
ELSEWHERE = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")


def java_for_real_time(cores: int, environment: Mapping[str, str]) -> str:
    """What Java is told; two collectors would end it, so none where the user has chosen one.

    >>> java_for_real_time(2, {}).endswith(COLLECTOR)
    True
    >>> java_for_real_time(2, {"JAVA_TOOL_OPTIONS": "-XX:+UseG1GC"}) == COMPILER
    True
    """
    chosen = any(re.search(r"-XX:\+Use\w+GC", environment.get(name, "")) for name in ELSEWHERE)
    return COMPILER if chosen or cores > FEW_CORES else f"{COMPILER} {COLLECTOR}"


def wanted_session(flow: Flow, settings: Settings) -> tuple[str, dict[str, str]]:
    """The master and the settings of a session in which a flow may run in either mode."""
    if not all(suits_real_time(flow.part_for(sink)) for sink in flow.sinks):
        return settings.master, settings.spark
    wanted = shuffle_settings(settings.real_time)
    java = java_for_real_time(os.cpu_count() or 1, os.environ)
    wanted |= {f"spark.{who}.extraJavaOptions": java for who in ("driver", "executor")}
    if any(kafka_home().glob("connector/*.jar")):
        wanted["spark.jars"] = ",".join(str(jar) for jar in connector_jars())
    master, cores = settings.master, os.cpu_count() or 1
    if master == "local[*]":
        # Tasks that wait for records cost nothing, but each of them needs a slot.
        tasks = max(cores, settings.real_time.tasks)
        parts = [flow.part_for(sink) for sink in flow.sinks]
        needed = sum(slots_needed(part, tasks) for part in parts)
        master = f"local[{max(cores, needed + 1)}]"
        wanted[PARTITIONS] = str(cores)
    return master, wanted | settings.spark


def shuffle_settings(knobs: RealTime) -> dict[str, str]:
    """How long and how much the shuffle of real-time mode gathers, as Spark calls it."""
    return {
        f"{SHUFFLE}.networkBufferMaxWaitTimeMs": str(round(knobs.shuffle_wait_s * 1e3)),
        f"{SHUFFLE}.networkBufferSize": str(knobs.shuffle_bytes),
    }


def set_shuffle(spark: SparkSession, knobs: RealTime) -> None:
    """Give a session the settings of the shuffle; executors that run already keep theirs."""
    live = spark.sparkContext._jsc.sc().conf()
    for name, value in shuffle_settings(knobs).items():
        if str(spark.sparkContext.master).startswith("local"):
            live.set(name, value)
        elif live.get(name, "") != value:
            raise SessionError(
                f"this flow is to run with {name}={value}, but the executors of this session have "
                f"{live.get(name, 'the default')}, which they take when they start; make the "
                f"session with it"
            )


def reducers(checkpoint: Path, otherwise: int) -> int:
    """How many tasks reduce: as many as the checkpoint has states, or a number for a new one."""
    return int(settings_in(checkpoint).get(PARTITIONS, otherwise))


def slots_needed(part: Flow, tasks: int) -> int:
    """How many tasks a part runs at the same time: one per partition, and those that reduce."""
    partitions = [
        len(partitions_of(source.topic.servers, source.topic.name))
        for source in part.sources
        if isinstance(source.topic, KafkaTopic)
    ]
    return sum(partitions) + (tasks if part.stateful() else 0)


def modes_here(spark: SparkSession, flow: Flow, settings: Settings) -> tuple[Mode, ...]:
    """The modes that a flow suits, and that the session has slots for."""
    suits = modes_of(flow)
    if "real-time" not in suits:
        return suits
    tasks = settings.real_time.tasks
    needed = sum(slots_needed(flow.part_for(sink), tasks) for sink in flow.sinks)
    enough = needed <= spark.sparkContext.defaultParallelism
    return tuple(mode for mode in suits if mode == "micro-batch" or enough)


def check_slots(spark: SparkSession, needed: int) -> None:
    """Refuse to start what would wait for ever: in real-time mode all tasks run at once."""
    there = spark.sparkContext.defaultParallelism
    if there < needed:
        raise SessionError(
            f"in real-time mode all tasks of this flow run at once, which takes {needed} slots; "
            f"Spark has {there}. Start it with more (master='local[{needed + 1}]'; tasks that wait "
            "cost nothing), lower real_time.tasks, or give the topic fewer partitions"
        )

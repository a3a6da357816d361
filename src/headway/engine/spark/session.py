"""The Spark that does the work: one of our own, or the user's, checked and left as it is."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
import sysconfig
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pyspark
from pyspark import cloudpickle
from pyspark.sql import SparkSession

import headway
from headway.engine.archive import java_options
from headway.engine.spark.stores import TOLD
from headway.errors import SessionError
from headway.flow.graph import Flow
from headway.flow.steps import PairStep, Source
from headway.flow.topics import MadeRecords
from headway.measure.costs.lanes import Lanes

STREAMING = "org.apache.spark.sql.execution.streaming"
JAVA = "spark.driver.extraJavaOptions"
# What a web page would show of a plan, and checks of what the optimizer made of it, take time.
UNADORNED = {
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.lightweightPlanChangeValidation": "false",
}
OUR_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    # Stock Spark keeps 100 compiled classes; two questions of ten tables need more, and then each
    # time they are asked all of them are compiled again.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # The gate closes windows itself, so Spark need not start a batch whenever the watermark moves.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # Where nothing is planned states rest in RocksDB, as real-time mode wants them, so that a run
    # may change to it; a query is told another store when it starts.
    **TOLD["rocksdb"],
    # Stock Spark starts some 90 processes a batch to set the rights of small checkpoint files; with
    # this and `drop_crc_files` 9 are left, and a batch that does little takes half the time.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


def open_session(master: str, extra: dict[str, str] | None = None) -> SparkSession:
    """A session of our own with the settings that headway wants."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    active = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if active is not None:
        return check_session(active)
    builder = SparkSession.builder.master(master).appName("headway")
    settings = {**OUR_SETTINGS, "spark.sql.shuffle.partitions": str(cores_of(master))}
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    wanted = {**settings, **(extra or {})}
    wanted[JAVA] = f"{java_options()} {wanted.get(JAVA, '')}".strip()
    for name, value in wanted.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    drop_crc_files(spark)
    forget_yarn(spark)
    return check_session(spark)


def drop_crc_files(spark: SparkSession) -> None:
    """Write local files without Hadoop's checksum beside each of them, in this JVM.

    What they guarded is guarded without them: files of state have Spark's own checksums, and the
    logs are JSON, which does not parse when it is cut short.
    """
    jvm: Any = spark._jvm
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    local = jvm.org.apache.hadoop.fs.FileSystem.getLocal(settings)
    local.setWriteChecksum(False)
    local.setVerifyChecksum(False)


def forget_yarn(spark: SparkSession) -> None:
    """Forget Hadoop's settings of a kind of cluster that this session is not part of.

    Spark sends all of Hadoop's settings to the tasks of every stage that keeps a state or reads a
    file, and half of them are for YARN, as if it were used or not.
    """
    if str(spark.sparkContext.master).startswith("yarn"):
        return
    jvm: Any = spark._jvm
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    names = jvm.java.lang.String.join(" ", settings.getPropsWithPrefix("yarn.").keySet()).split()
    for name in names:
        settings.unset(f"yarn.{name}")


def cores_of(master: str) -> int:
    """How many tasks a local master runs at once; for a cluster, what this host has.

    >>> cores_of("local[3]"), cores_of("local")
    (3, 1)
    """
    if master == "local":
        return 1
    if master.startswith("local[") and master[6:-1].split(",")[0].isdigit():
        return int(master[6:-1].split(",")[0])
    return os.cpu_count() or 1


def lanes_of(spark: SparkSession) -> Lanes:
    """How many tasks of a query run side by side; slots beyond the cores of this host only wait."""
    slots = spark.sparkContext.defaultParallelism
    if str(spark.sparkContext.master).startswith("local"):
        slots = min(slots, os.cpu_count() or 1)
    return Lanes(slots, int(spark.conf.get("spark.sql.shuffle.partitions", str(slots)) or slots))


def check_session(spark: Any) -> SparkSession:
    """Refuse a session in which headway could not work, and say what to change."""
    check_kind(spark)
    python = spark.sparkContext.pythonExec
    found = shutil.which(python) or python
    if os.path.realpath(found) != os.path.realpath(sys.executable) and not same_home(found):
        raise SessionError(
            f"Spark's Python workers would run {python!r}, not the Python that runs headway "
            f"({sys.executable}); set PYSPARK_PYTHON to it before the session is made"
        )
    return spark  # type: ignore[no-any-return]


def check_kind(spark: Any) -> None:
    """Refuse a session of another kind or version; all that questions over stored data need."""
    if "connect" in type(spark).__module__:
        raise SessionError(
            "this is a Spark Connect session: headway needs the driver's JVM, which Connect "
            "keeps out of reach. Use a classic session (SparkSession.builder.master(...))"
        )
    if not spark.version.startswith("4.3."):
        raise SessionError(f"headway needs Spark 4.3; this session runs {spark.version}")


def same_home(python: str) -> bool:
    """Whether another path to a Python belongs to this very environment."""
    return Path(python).parent == Path(sys.executable).parent


def prepare(spark: SparkSession, flow: Flow) -> None:
    """Make headway and the user's own classes known to every process that Spark starts."""
    for owner in owners(flow):
        if not installed(owner):
            cloudpickle.register_pickle_by_value(owner)  # type: ignore[no-untyped-call]
    if not str(spark.sparkContext.master).startswith("local"):
        spark.sparkContext.addPyFile(str(packed_headway()))


def owners(flow: Flow) -> set[ModuleType]:
    """The modules that define the classes which travel to Python workers."""
    things: list[object] = [step.pair for step in flow.steps if isinstance(step, PairStep)]
    for step in flow.steps:
        if isinstance(step, Source) and isinstance(step.topic, MadeRecords):
            things.append(step.topic.maker)
    classes = {base for thing in things for base in type(thing).__mro__}
    found = {inspect.getmodule(each) for each in classes}
    return {module for module in found if module is not None and module.__name__ != "__main__"}


def installed(module: ModuleType) -> bool:
    """Whether a worker can import a module by its name."""
    if module.__name__.partition(".")[0] in ("headway", "builtins"):
        return True
    path = getattr(module, "__file__", None)
    if path is None:
        return True
    homes = {sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")}
    return any(Path(path).resolve().is_relative_to(Path(home).resolve()) for home in homes)


def packed_headway() -> Path:
    """headway as a zip file, for executors on other hosts."""
    root = Path(headway.__file__).parent
    target = Path(tempfile.mkdtemp(prefix="headway-")) / "headway.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(root.rglob("*.py")):
            out.write(path, Path("headway") / path.relative_to(root))
    return target


LOCK = threading.Lock()


@contextmanager
def set_for_now(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """Settings of a session while a query starts, which takes them with it."""
    with LOCK:
        before = {name: spark.conf.get(name, None) for name in settings}
        try:
            for name, value in settings.items():
                spark.conf.set(name, value)
            yield
        finally:
            for name, known in before.items():
                if known is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, known)


PYSPARK_VERSION = pyspark.__version__

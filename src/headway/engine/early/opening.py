"""Files of annotated tables as Spark opens them: once, and known to lie apart by their key."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

# Slices of tables that stay open for the next question, each a view of some files.
OPEN = 256
# Tables up to this size are held in memory: Spark then needs no job to read one, and a question may
# have several.
HELD_BYTES, HELD_ROWS = 64_000, 1_000
# Types whose hash is the same wherever Spark computes it.
PLAIN = ("tinyint", "smallint", "int", "bigint", "date", "boolean", "string")


@dataclass(frozen=True, slots=True)
class Clusters:
    """How rows are spread over files: those whose key has the same hash are in the same ones."""

    by: tuple[str, ...] = ()
    count: int = 0


def place_of(name: str) -> int:
    """The cluster that a file's name tells.

    >>> place_of("x/part-00000-4c1e_00001_00012.c000.snappy.parquet")
    12
    """
    return int(Path(name).name.partition(".")[0].rpartition("_")[2])


def of_points(clusters: Clusters, points: int) -> Clusters:
    """The clusters of each point as so many of their own: rows of two points never lie together.

    The number of a cluster is no hash of the key. Spark reads one cluster only where a query names
    the key's value, and finds it by its hash, unless clusters are by more than one column: so by
    the key twice, which says the same.

    >>> of_points(Clusters(("k",), 2), 10)
    Clusters(by=('k', 'k'), count=20)
    """
    return Clusters(clusters.by * 2, clusters.count * points)


@dataclass(frozen=True, slots=True)
class FileSet:
    """Some files of a table: their columns, how rows are spread over them, and in which order.

    in_order  whether each file is sorted by the key of its cluster
    rows      how many there are, of a table that is there from the start; 0: that is not known
    """

    paths: tuple[str, ...]
    schema: StructType
    clusters: Clusters
    in_order: bool = False
    rows: int = 0

    @property
    def is_held(self) -> bool:
        """Whether it is asked for whole each time, and small enough to be held in memory."""
        if not 0 < self.rows <= HELD_ROWS:
            return False
        return sum(Path(path).stat().st_size for path in self.paths) <= HELD_BYTES


_opened: OrderedDict[tuple[object, ...], str] = OrderedDict()
_lock = threading.Lock()
_numbers = itertools.count()


def clusters_of(by: tuple[str, ...], schema: StructType, count: int) -> Clusters:
    """The clusters of a table that is sampled by a key; none where a hash might be another.

    >>> clusters_of(("k",), StructType().add("k", "double"), 2)
    Clusters(by=(), count=0)
    """
    types = {field.name: field.dataType.simpleString() for field in schema}
    fit = bool(by) and all(types.get(name) in PLAIN for name in by)
    return Clusters(by, count) if fit else Clusters()


def clustered_name(name: str, cluster: int) -> str:
    """The name of a file, from which Spark learns what cluster it holds.

    >>> clustered_name("part-00000-4c1e.c000.snappy.parquet", 1)
    'part-00000-4c1e_00001.c000.snappy.parquet'
    """
    first, dot, rest = name.partition(".")
    return f"{first}_{cluster:05d}{dot}{rest}"


def open_files(spark: SparkSession, files: FileSet) -> str:
    """The rows of files as a view that all sessions see, by its name; files are opened once.

    Spark need not bring together in it what lies together already, nor sort each file by the key
    of its cluster where it is in that order; a session without buckets is told neither.
    """
    application = str(spark.sparkContext.applicationId)
    # A scan goes by what the session that opened it is set to when it is planned, and that may
    # have changed by then: so a view for those without buckets has none that could be used.
    if str(spark.conf.get("spark.sql.sources.bucketing.enabled")).lower() != "true":
        files = replace(files, clusters=Clusters(), in_order=False)
    key = (application, files.paths, files.schema.json(), files.clusters, files.in_order)
    with _lock:
        if key in _opened:
            _opened.move_to_end(key)
            return _opened[key]
    view = f"hwrows_{next(_numbers)}"
    dataset = spark._jvm.org.apache.spark.sql.classic.Dataset  # type: ignore[union-attr]
    dataset.ofRows(spark._jsparkSession, plan_of(spark, files)).createGlobalTempView(view)
    name = f"`{spark.conf.get('spark.sql.globalTempDatabase')}`.`{view}`"
    return keep_open(spark, key, name)


def plan_of(spark: SparkSession, files: FileSet) -> Any:
    """Spark's plan of the rows of files: read by whoever asks, or in memory already."""
    if not files.paths:
        return nothing(spark, files.schema)
    frame = spark.read.schema(files.schema).parquet(*files.paths)
    plan: Any = frame._jdf.queryExecution().analyzed()
    if files.is_held:
        with suppress(Py4JError):  # what cannot be read is told to who reads it
            return held(spark, frame)
    return apart(spark, plan, files) if is_scan(plan) else plan


def nothing(spark: SparkSession, schema: StructType) -> Any:
    """No rows at all as a plan; made in the JVM, as `held` does it."""
    kind = spark._jsparkSession.parseDataType(schema.json())
    none: Any = spark._jvm.java.util.ArrayList()  # type: ignore[union-attr]
    return spark._jsparkSession.createDataFrame(none, kind).queryExecution().analyzed()


def is_scan(plan: Any) -> bool:
    """Whether a plan does nothing but read files."""
    return str(plan.getClass().getSimpleName()) == "LogicalRelation"


def held(spark: SparkSession, frame: DataFrame) -> Any:
    """The rows of a DataFrame as a plan that has them.

    They stay in the JVM: a DataFrame made of rows in Python makes its session the active one.
    """
    jvm: Any = spark._jvm
    execution: Any = frame._jdf.queryExecution()
    rows = jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray(
        execution.executedPlan().executeCollect()
    )
    relation = jvm.org.apache.spark.sql.catalyst.plans.logical.LocalRelation
    return relation(execution.analyzed().output(), rows, False, jvm.scala.Option.empty())


def keep_open(spark: SparkSession, key: tuple[object, ...], name: str) -> str:
    """Keep a view, in place of those that nobody has asked for, or whose Spark is gone.

    Who opens the same files at the same time gets the view that was there first.
    """
    with _lock:
        for other in [one for one in _opened if one[0] != key[0]]:
            del _opened[other]
        kept = _opened.setdefault(key, name)
        gone = [_opened.popitem(last=False)[1] for _ in range(len(_opened) - OPEN)]
    for each in [*gone, *([name] if kept != name else [])]:
        spark.sql(f"DROP VIEW IF EXISTS {each}")
    return kept


def apart(spark: SparkSession, plan: Any, files: FileSet) -> Any:
    """A scan of files as that of a bucketed table, which Spark makes of tables in a catalog only.

    Then joins and groups by the key need no shuffle. The scan goes by the settings of a session.
    """
    jvm: Any = spark._jvm
    sequence, old = jvm.PythonUtils.toSeq, plan.relation()
    spec = old.bucketSpec()
    clusters = files.clusters
    if clusters.count:
        made = jvm.org.apache.spark.sql.catalyst.catalog.BucketSpec(
            clusters.count,
            sequence(list(clusters.by)),
            sequence(list(dict.fromkeys(clusters.by)) if files.in_order else []),
        )
        spec = jvm.scala.Option.apply(made)
    relation = old.copy(
        old.location(), old.partitionSchema(), old.dataSchema(), spec, old.fileFormat(),
        old.options(), spark._jsparkSession,
    )  # fmt: skip
    return plan.copy(
        relation, plan.output(), plan.catalogTable(), plan.isStreaming(), plan.stream()
    )

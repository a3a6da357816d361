"""Files of annotated tables as Spark opens them: once, and known to lie apart by their key."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

# Files that stay open for the next question, by table and slice; each is a list of names.
OPEN = 64
# Types whose hash is the same wherever Spark computes it.
PLAIN = ("tinyint", "smallint", "int", "bigint", "date", "boolean", "string")


@dataclass(frozen=True, slots=True)
class Clusters:
    """How rows are spread over files: those whose key has the same hash are in the same ones."""

    by: tuple[str, ...] = ()
    count: int = 0


_opened: OrderedDict[tuple[object, ...], Any] = OrderedDict()
_lock = threading.Lock()


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


def open_files(
    spark: SparkSession, paths: list[str], schema: StructType, clusters: Clusters, in_order: bool
) -> DataFrame:
    """The rows of files, in which Spark need not bring together what lies together already.

    Nor sort each file by the key of its cluster where it is `in_order` so.
    """
    jvm: Any = spark._jvm
    key = (spark.sparkContext.applicationId, tuple(paths), schema.json(), clusters)
    plan = kept_open(key)
    if plan is None:
        plan = spark.read.schema(schema).parquet(*paths)._jdf.queryExecution().analyzed()
        keep_open(key, plan)
    if plan.getClass().getSimpleName() == "LogicalRelation":
        plan = apart(spark, plan, clusters, in_order)
    dataset = jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan)
    return DataFrame(dataset, spark)


def kept_open(key: tuple[object, ...]) -> Any:
    """Files that an earlier question has opened, or None."""
    with _lock:
        if key in _opened:
            _opened.move_to_end(key)
        return _opened.get(key)


def keep_open(key: tuple[object, ...], plan: Any) -> None:
    """Keep files open, in place of those that nobody has asked for, or whose Spark is gone."""
    with _lock:
        for other in [one for one in _opened if one[0] != key[0]]:
            del _opened[other]
        _opened[key] = plan
        while len(_opened) > OPEN:
            _opened.popitem(last=False)


def apart(spark: SparkSession, plan: Any, clusters: Clusters, in_order: bool) -> Any:
    """A scan of files as that of a bucketed table, which Spark makes of tables in a catalog only.

    Then joins and groups by the key need no shuffle. The scan goes by the settings of a session.
    """
    jvm: Any = spark._jvm
    sequence, old = jvm.PythonUtils.toSeq, plan.relation()
    spec = old.bucketSpec()
    if clusters.count:
        made = jvm.org.apache.spark.sql.catalyst.catalog.BucketSpec(
            clusters.count,
            sequence(list(clusters.by)),
            sequence(list(clusters.by) if in_order else []),
        )
        spec = jvm.scala.Option.apply(made)
    relation = old.copy(
        old.location(), old.partitionSchema(), old.dataSchema(), spec, old.fileFormat(),
        old.options(), spark._jsparkSession,
    )  # fmt: skip
    return plan.copy(
        relation, plan.output(), plan.catalogTable(), plan.isStreaming(), plan.stream()
    )

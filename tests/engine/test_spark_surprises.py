"""What surprised us about Spark, pinned: each test here has its paragraph in spark_surprises.md."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark import cloudpickle
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.errors.exceptions import captured
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from headway.engine.early.states import put_by
from headway.engine.spark.gate.offset_log import settings_in
from headway.engine.spark.realtime.needs import COLLECTOR
from headway.engine.spark.session import set_for_now
from headway.engine.spark.stores import FORMAT, PROVIDER, PROVIDERS, TOLD
from tests.engine import spark_pins
from tests.engine.spark_pins import NumberSource

pytestmark = pytest.mark.spark


def numbers(spark: SparkSession, step: int = 5, count: int = 10) -> DataFrame:
    cloudpickle.register_pickle_by_value(spark_pins)
    spark.dataSource.register(NumberSource)
    return spark.readStream.format("numbers").option("step", step).option("count", count).load()


def run_to_end(
    frame: DataFrame, folder: Path, batches: int, mode: str = "append"
) -> tuple[list[tuple[int, list[Any]]], list[Any]]:
    """The rows of each batch, and the progress events, of a query that runs some batches."""
    rows: list[tuple[int, list[Any]]] = []
    take: Callable[[DataFrame, int], None] = lambda df, n: rows.append((n, df.collect()))  # noqa: E731
    query = (
        frame.writeStream.outputMode(mode)
        .option("checkpointLocation", str(folder))
        .foreachBatch(take)
        .start()
    )
    try:
        while query.exception() is None and (
            query.lastProgress is None or query.lastProgress.batchId < batches - 1
        ):
            query.awaitTermination(0.05)
        progress = list(query.recentProgress)
    finally:
        query.stop()
    return rows, progress


def counted(spark: SparkSession, folder: Path, batches: int) -> list[Any]:
    """The progress events of a count by key that runs up to some batch."""
    frame = numbers(spark, count=40).groupBy((F.col("n") % 3).alias("key")).count()
    return run_to_end(frame, folder, batches, "update")[1]


def test_a_query_goes_on_with_the_store_of_its_checkpoint_whatever_the_session_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    with set_for_now(spark, dict(TOLD["memory"])):
        counted(spark, tmp_path, 2)
    assert settings_in(tmp_path)[PROVIDER] == PROVIDERS["memory"]
    with set_for_now(spark, dict(TOLD["rocksdb"])):
        progress = counted(spark, tmp_path, 5)
    assert progress[-1].batchId >= 4
    assert settings_in(tmp_path)[PROVIDER] == PROVIDERS["memory"]
    assert list(tmp_path.rglob("state/0/0/5.delta"))


def test_the_store_in_memory_refuses_the_format_that_real_time_mode_needs(
    spark: SparkSession, tmp_path: Path
) -> None:
    told = {PROVIDER: PROVIDERS["memory"], FORMAT: "2"}
    with (
        set_for_now(spark, told),
        pytest.raises(StreamingQueryException, match="does not support checkpointFormatVersion"),
    ):
        counted(spark, tmp_path, 2)


def test_a_filter_below_which_the_watermark_stands_is_pushed_under_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    by_other = numbers(spark).withWatermark("time", "0 seconds").where("n < 4")
    by_time = numbers(spark).withWatermark("time", "0 seconds").where("unix_seconds(time) < 4")
    highest = {}
    for name, frame in (("other", by_other), ("time", by_time)):
        _, progress = run_to_end(frame, tmp_path / name, 2)
        highest[name] = progress[-1].eventTime["watermark"]
    assert highest["other"] == "1970-01-01T00:00:03.000Z"  # 4 to 9 never reached the watermark
    assert highest["time"] == "1970-01-01T00:00:04.000Z"  # batch 0 held 0 to 4


def test_the_watermark_of_the_next_batch_can_be_read_while_its_offset_is_asked_for(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = numbers(spark).withWatermark("time", "2 seconds")
    query = (
        frame.writeStream.option("checkpointLocation", str(tmp_path))
        .foreachBatch(lambda df, n: df.collect())
        .start()
    )
    while query.lastProgress is None or query.lastProgress.batchId < 1:
        query.awaitTermination(0.05)
    tracker = query._jsq.streamingQuery().watermarkTracker()
    assert tracker.currentWatermark() == 7_000  # 9 s seen in batch 1, less the delay
    query.stop()


def test_observed_metrics_of_a_foreach_batch_count_once_for_one_action(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = numbers(spark).observe("seen", F.count(F.lit(1)).alias("count"))
    _, progress = run_to_end(frame, tmp_path, 2)
    assert [p.observedMetrics["seen"]["count"] for p in progress if p.numInputRows] == [5, 5]


def test_an_aggregate_without_a_key_answers_even_when_nothing_passed_the_filter(
    spark: SparkSession, tmp_path: Path
) -> None:
    none_passes = numbers(spark).where("n < 0")
    bare = none_passes.groupBy().agg(F.count(F.lit(1)).alias("c"))
    keyed = none_passes.groupBy(F.lit(1).alias("all")).agg(F.count(F.lit(1)).alias("c"))
    bare_rows, _ = run_to_end(bare, tmp_path / "bare", 2, "update")
    keyed_rows, _ = run_to_end(keyed, tmp_path / "keyed", 2, "update")
    assert [len(rows) for _, rows in bare_rows] == [1, 1]
    assert [len(rows) for _, rows in keyed_rows] == [0, 0]


def test_windows_of_spark_are_closed_at_the_start(spark: SparkSession, tmp_path: Path) -> None:
    window = F.window("time", "5 seconds")
    counted = numbers(spark).withWatermark("time", "0 seconds").groupBy(window).count()
    rows, _ = run_to_end(counted, tmp_path, 2, "update")
    counts = {row["window"].start.timestamp(): row["count"] for _, batch in rows for row in batch}
    assert list(counts.values()) == [5, 5]  # 0..4 and 5..9: the number 5 opens the second window


def environment_of(frame: DataFrame) -> Any:
    """The Java map of a Python source's environment, which rides in every task that reads it."""
    relation = frame._jdf.queryExecution().analyzed()
    return relation.source().get().source().dataSourceCls().envVars()


def test_queries_of_one_registration_share_a_map_that_starting_one_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    first = numbers(spark)
    second = spark.readStream.format("numbers").option("step", 5).option("count", 10).load()
    assert environment_of(first).equals(environment_of(second))
    before = environment_of(second).size()
    run_to_end(first, tmp_path, 1)
    assert environment_of(second).size() > before
    assert environment_of(numbers(spark)).size() == before


def test_current_timestamp_is_compiled_into_the_code_so_each_batch_has_new_code(
    spark: SparkSession,
) -> None:
    jvm: Any = spark._jvm
    compiled = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()

    def times(expression: str) -> int:
        frames = [spark.range(10).selectExpr(f"{expression} AS x") for _ in range(4)]
        frames[0].where("x % 7 = 3").collect()
        before = int(compiled.getCount())
        for frame in frames[1:]:
            frame.where("x % 7 = 3").collect()
        return int(compiled.getCount()) - before

    assert times("id * 131 + 17") == 0
    assert times("id * 131 + unix_micros(current_timestamp())") >= 3


def test_rand_has_another_seed_and_so_other_code_in_each_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    jvm: Any = spark._jvm
    compiled = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()

    def times(condition: str, folder: Path) -> int:
        counts: list[int] = []
        query = (
            numbers(spark, step=2, count=12).where(condition)
            .writeStream.option("checkpointLocation", str(folder))
            .foreachBatch(lambda df, n: counts.append((df.count(), int(compiled.getCount()))[1]))
            .start()
        )  # fmt: skip
        try:
            while len(counts) < 6 and query.exception() is None:
                query.awaitTermination(0.05)
        finally:
            query.stop()
        return counts[5] - counts[1]

    assert times("pmod(hash(n), 8) < 7", tmp_path / "hash") == 0
    assert times("rand() < 0.9", tmp_path / "rand") >= 4


def test_count_if_is_replaced_each_time_a_query_is_planned(spark: SparkSession) -> None:
    def aggregates(sql: str) -> tuple[str, str]:
        planned = spark.range(10).agg(F.expr(sql).alias("n"))._jdf.queryExecution()  # type: ignore[operator]
        return str(planned.analyzed().toString()), str(planned.optimizedPlan().toString())

    before, after = aggregates("count_if(id > 3)")
    assert "count_if" in before
    assert "count_if" not in after
    before, after = aggregates("count(CASE WHEN id > 3 THEN 1 END)")
    assert "count(CASE" in before
    assert "count(CASE" in after


def test_two_garbage_collectors_end_a_jvm() -> None:
    both = ["java", "-XX:+UseSerialGC", "-XX:+UseG1GC", "-version"]
    ended = subprocess.run(both, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert "multiple garbage collectors selected" in (ended.stdout + ended.stderr).lower()


def test_java_begins_with_a_small_part_of_the_heap_for_what_is_new() -> None:
    def room_mb(*options: str) -> int:
        asked = ["java", "-Xmx1g", "-XX:MaxRAM=16g", *options, "-XX:+PrintFlagsFinal", "-version"]
        told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        found = re.search(r" NewSize +:?= (\d+)", told)
        assert found is not None
        return int(found[1]) >> 20

    assert room_mb("-XX:+UseSerialGC") < 100
    assert room_mb(*COLLECTOR.split()) == 512


def test_compiled_classes_of_more_than_a_hundred_queries_are_kept(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    kept = jvm.org.apache.spark.sql.internal.StaticSQLConf.CODEGEN_CACHE_MAX_ENTRIES()
    assert int(kept.defaultValueString()) == 100
    compiled = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()

    def times() -> int:
        before = compiled.getCount()
        for n in range(110):
            rows = spark.range(1).selectExpr(f"id + {n}")._jdf.queryExecution()  # type: ignore[operator]
            rows.executedPlan().execute()
        return int(compiled.getCount() - before)

    assert times() >= 100
    assert times() == 0


def test_a_raw_local_file_system_is_not_what_hadoop_casts_to(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    settings = jvm.org.apache.hadoop.conf.Configuration()
    settings.set("fs.file.impl.disable.cache", "true")
    jvm.org.apache.hadoop.fs.FileSystem.getLocal(settings)
    settings.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
    with pytest.raises(Py4JJavaError, match="ClassCastException"):
        jvm.org.apache.hadoop.fs.FileSystem.getLocal(settings)


def test_observe_stands_outside_generated_code(spark: SparkSession) -> None:
    observed = spark.range(10).where("id > 3").observe("o", F.count(F.lit(1))).where("id % 2 = 0")
    plan = str(observed._jdf.queryExecution().executedPlan().toString()).splitlines()  # type: ignore[operator]
    [metrics] = [line for line in plan if "CollectMetrics" in line]
    assert "*(" not in metrics
    assert any("*(" in line and "Filter" in line for line in plan)


def test_where_in_brackets_names_a_relation_that_has_no_name(spark: SparkSession) -> None:
    inside = "SELECT false AS a"
    assert spark.sql(f"SELECT * FROM ({inside}) WHERE (a)").count() == 1
    assert spark.sql(f"SELECT * FROM ({inside}) AS s WHERE (a)").count() == 0


def test_a_local_checkpoint_is_a_leaf_and_a_cached_query_is_not(spark: SparkSession) -> None:
    query = spark.range(100).groupBy((F.col("id") % 7).alias("k")).count()
    rows = query.localCheckpoint(eager=False)
    cached = query.persist()
    try:
        sizes = [
            len(str(one._jdf.queryExecution().logical()).splitlines()) for one in (rows, cached)
        ]
        assert sizes[0] == 1 < sizes[1]
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(None)
        assert rows.count() == 7
        assert len(spark.sparkContext.statusTracker().getJobIdsForGroup(None)) > len(jobs)
    finally:
        cached.unpersist()


def test_the_end_of_a_java_collection_is_an_exception_that_pyspark_has_to_understand(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def counted(error: Any) -> Any:
        asked.append(error)
        return understood(error)

    understood = captured.convert_exception
    monkeypatch.setattr(captured, "convert_exception", counted)
    jvm: Any = spark._jvm
    held = jvm.java.util.HashMap({"a": 1})
    assert held["a"] == 1
    assert len(held) == 1
    assert not asked
    assert dict(held) == {"a": 1}
    assert "NoSuchElementException" in asked[0].toString()


def test_a_clock_in_an_observed_aggregate_works_for_max_and_for_no_sketch(
    spark: SparkSession,
) -> None:
    clock = "CAST(java_method('java.lang.System', 'currentTimeMillis') AS DOUBLE)"
    latest, sketch = (F.expr(f"{name}({clock})") for name in ("max", "kll_sketch_agg_double"))
    with pytest.raises(AnalysisException, match="NONDETERMINISTIC"):
        spark.range(3).agg(latest.alias("at"))
    seen = Observation()
    spark.range(3).observe(seen, latest.alias("at")).collect()
    assert seen.get["at"] > 1.7e12
    with pytest.raises(Py4JJavaError, match="should be initialized before eval"):
        spark.range(3).observe(Observation(), sketch.alias("at")).collect()


def test_rows_made_in_python_change_the_active_session(spark: SparkSession) -> None:
    active = SparkSession.getActiveSession()
    other = spark.newSession()
    try:
        other.range(2).collect()
        assert SparkSession.getActiveSession() is active
        other.createDataFrame([(1,)], "k int")
        assert SparkSession.getActiveSession() is other
    finally:
        spark.createDataFrame([(1,)], "k int")
    assert SparkSession.getActiveSession() is spark


@pytest.mark.parametrize(("key", "steps"), [("", 1), (", e", 1), (", u", 2)])
def test_a_number_among_the_keys_of_a_group_takes_a_step_more(
    spark: SparkSession, key: str, steps: int
) -> None:
    rows = spark.range(100).selectExpr("id AS k", "id AS v", "id + 1 AS e", "7 AS u")
    rows.repartition(2, "k").createOrReplaceTempView("apart_by_k")
    asked = spark.sql(f"SELECT k, sum(v) FROM apart_by_k GROUP BY k{key}")
    plan = str(asked._jdf.queryExecution().executedPlan().toString())
    assert plan.count("HashAggregate") == steps


@pytest.mark.parametrize(("kind", "shuffles"), [("bigint", 2), ("int", 3)])
def test_a_union_of_keys_that_are_cast_is_shuffled(
    spark: SparkSession, kind: str, shuffles: int
) -> None:
    long, other = spark.range(100).selectExpr("id AS k"), f"CAST(id AS {kind}) AS k"
    both = long.repartition(2, "k").union(spark.range(9).selectExpr(other).repartition(2, "k"))
    plan = str(both.groupBy("k").count()._jdf.queryExecution().executedPlan().toString())
    assert plan.count("Exchange hashpartitioning") == shuffles


@pytest.mark.parametrize("stock", [True, False])
def test_rows_that_are_kept_are_said_to_have_columns_that_they_lack(
    spark: SparkSession, tmp_path: Path, stock: bool
) -> None:
    made = spark.range(100).selectExpr("CAST(id % 10 AS STRING) AS k", "id AS v")
    made.write.parquet(str(tmp_path / "to_keep"))
    spark.read.parquet(str(tmp_path / "to_keep")).createOrReplaceTempView("to_keep")
    inside = "SELECT b, v FROM (SELECT k AS b, v FROM to_keep) WHERE b <> '3'"
    asked = spark.sql(f"SELECT `b` AS `b`, min(v) AS v FROM ({inside}) GROUP BY b")
    kept = asked.localCheckpoint(eager=False) if stock else put_by(asked)
    plan: Any = kept._jdf.queryExecution().logical()
    known = str(plan.constraints().toString())
    there = re.findall(r"b#\d+", str(plan.output().toString()))
    assert {name in there for name in re.findall(r"b#\d+", known)} == ({False} if stock else set())

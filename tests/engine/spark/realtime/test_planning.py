"""What is left out of Spark's planning exists, and what a user has left out stays so."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from headway.engine.spark.realtime.planning import EXCLUDED, IN_VAIN, planned_quickly
from headway.engine.spark.session import set_for_now

pytestmark = pytest.mark.spark


def plan_of(spark: SparkSession) -> str:
    """How Spark goes about a projection and a filter that a projection hides."""
    asked = "SELECT b FROM (SELECT id + 1 AS b, id AS c FROM range(9)) t WHERE b > 3"
    return str(spark.sql(asked)._jdf.queryExecution().toString())


def test_each_rule_that_is_left_out_is_one_of_sparks(spark: SparkSession) -> None:
    rules: Any = spark._jsparkSession.sessionState().optimizer()
    optimizer = rules.defaultBatches().mkString(" ")
    kept = rules.nonExcludableRules().mkString(" ").split()
    assert spark._jvm is not None
    for rule in IN_VAIN:
        found = spark._jvm.java.lang.Class.forName(f"org.apache.spark.sql.{rule}$")
        assert found.getSimpleName().rstrip("$") == rule.rpartition(".")[2]
        assert rule in optimizer, (
            f"{rule} is no rule of the optimizer's: to exclude it does nothing"
        )
        assert f"org.apache.spark.sql.{rule}" not in kept, f"Spark goes by {rule} all the same"


def test_a_rule_that_the_user_left_out_stays_left_out(spark: SparkSession) -> None:
    with set_for_now(spark, {EXCLUDED: "org.example.Rule"}):
        assert planned_quickly(spark, makes_code=True)[EXCLUDED].endswith(",org.example.Rule")


def test_without_generated_projections_there_is_no_generated_loop_either(
    spark: SparkSession,
) -> None:
    assert "*(1) Range" in plan_of(spark)
    with set_for_now(spark, {"spark.sql.codegen.factoryMode": "NO_CODEGEN"}):
        assert "*(1)" not in plan_of(spark)


def test_code_is_made_of_expressions_alone_and_only_where_it_is_wanted(
    spark: SparkSession,
) -> None:
    jvm: Any = spark._jvm
    compiled = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()
    for makes_code, asked in ((True, "id * 71 + 8"), (False, "id * 72 + 8")):
        with set_for_now(spark, planned_quickly(spark, makes_code=makes_code)):
            assert "*(1)" not in plan_of(spark)
            before = compiled.getCount()
            spark.range(9).selectExpr(asked).write.format("noop").mode("overwrite").save()
            assert (compiled.getCount() > before) == makes_code


def test_one_pass_of_the_optimizer_prunes_columns_that_nobody_asked_for(
    spark: SparkSession,
) -> None:
    with set_for_now(spark, {"spark.sql.optimizer.maxIterations": "1"}):
        optimized = plan_of(spark).split("== Optimized Logical Plan ==")[1]
    assert " AS c" not in optimized.split("== Physical Plan ==")[0]

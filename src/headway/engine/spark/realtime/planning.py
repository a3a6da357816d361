"""Settings with which Spark plans a query of real-time mode sooner.

It does so anew at each checkpoint, while records wait.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from headway.engine.spark.session import UNADORNED

EXCLUDED = "spark.sql.optimizer.excludedRules"
# Rules that look in vain for what such a query never has, and take longest.
IN_VAIN = (
    "catalyst.optimizer.FoldablePropagation",
    "catalyst.optimizer.InferFiltersFromConstraints",
    "catalyst.optimizer.OptimizeCsvJsonExprs",
    "catalyst.optimizer.OptimizeOneRowRelationSubquery",
    "catalyst.optimizer.PruneFilters",
    "catalyst.optimizer.RemoveRedundantAliases",
    "execution.datasources.PruneFileSourcePartitions",
    "execution.datasources.PushVariantIntoScan",
    "execution.datasources.SchemaPruning",
)


def planned_quickly(spark: SparkSession, makes_code: bool) -> dict[str, str]:
    """What a query is started with; rules that the user left out stay left out."""
    left_out = spark.conf.get(EXCLUDED, None)
    rules = [f"org.apache.spark.sql.{rule}" for rule in IN_VAIN]
    return {
        EXCLUDED: ",".join([*rules, left_out] if left_out else rules),
        # A plan that was written by hand has little to find, and one pass over it finds that.
        "spark.sql.optimizer.maxIterations": "1",
        "spark.sql.exchange.reuse": "false",
        **UNADORNED,
        "spark.sql.maxPlanStringLength": "100",
        # Most steps of such a query cannot share a loop, and without one records cost no more.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "FALLBACK" if makes_code else "NO_CODEGEN",
    }

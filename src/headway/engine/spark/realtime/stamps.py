"""A clock read for each record in SQL, and what `observe()` makes of the differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headway.engine.spark.gate.columns import MAPPED, METERED, READ
from headway.measure.latency import SKETCH_K, Ages, Latency

# Called for each row, on whatever host the task runs, and no code of ours in the JVM.
CLOCK = "java_method('java.lang.System', 'currentTimeMillis')"
MAPS = "headway.map"  # the name under which mapped records are observed
SHARE = 8  # of so many rows the times of one are taken
NOW_MS = f"CASE WHEN {METERED} THEN CAST({CLOCK} AS BIGINT) END"


def picked() -> Column:
    """A column that picks the rows whose times are taken, whatever they hold.

    By a hash of their place, since rand() would have another seed, and so other code, in each
    interval.
    """
    return F.expr(f"pmod(hash(offset), {SHARE}) = 0").alias(METERED)


def summed(name: str, seconds: str) -> list[Column]:
    """Aggregates of a difference in seconds, null where no time was taken: the sum and a sketch.

    Few of them, since Spark plans them at each checkpoint: the variance is the sketch's.
    """
    value = f"CAST({seconds} AS DOUBLE)"
    return [
        F.expr(f"sum({value})").alias(f"{name}_sum"),
        F.expr(f"kll_sketch_agg_double({value}, {SKETCH_K})").alias(f"{name}_sketch"),
    ]


def mapped(frame: DataFrame) -> DataFrame:
    """Tell when each record that is metered has been mapped, and sum up how long that took."""
    stamped = frame.withColumn(MAPPED, F.expr(NOW_MS))
    return stamped.observe(MAPS, *summed("map", f"({MAPPED} - {READ}) / 1000"))


def latency_of(row: dict[str, Any] | None, name: str) -> Latency:
    """What was summed up under a name."""
    if row is None or row.get(f"{name}_sum") is None:
        return Latency.none()
    ages = Ages(float(row[f"{name}_sum"]), 0.0, bytes(row[f"{name}_sketch"]))
    found = Latency.later(ages, 0.0)
    spread = (found.values_s - found.mean_s) ** 2
    return replace(found, variance_s2=float(np.average(spread, weights=found.weights)))

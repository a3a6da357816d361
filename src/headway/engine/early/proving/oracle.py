"""What is right: the query as Spark runs it, over the tuples of one point and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import LongType, StringType

from headway.early.read.total import totally_ordered
from headway.engine.early.views import Tables, analysed

CLOSE = 1e-9  # by how much of itself a float may differ
# Small data, many questions: to compile code for each of them would take longer than to run it.
QUICKLY = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # What is right does not rest on how the files lie.
    "spark.sql.sources.bucketing.enabled": "false",
}


def answer_by_batch(tables: Tables, sql: str, point: int) -> pa.Table:
    """The answer at a point as a batch query gives it, in its order, if it has one."""
    text = totally_ordered(sql, wholly=True)
    return analysed(tables.session, tables.stabbed(text, point)).toArrow()


def order_differs(found: pa.Table, wanted: pa.Table) -> str | None:
    """The first place where answers with the same rows have them in another order, or None."""
    for n, (ours, theirs) in enumerate(zip(table_rows(found), table_rows(wanted), strict=True)):
        if rounded(ours) != rounded(theirs) and not alike(ours, theirs):
            return f"row {n} is {rounded(ours)} instead of {rounded(theirs)}"
    return None


def differs(found: pa.Table, wanted: pa.Table) -> str | None:
    """How two answers differ as bags of rows, or None; floats may differ by their last digits."""
    if found.num_rows != wanted.num_rows:
        return f"{found.num_rows} rows instead of {wanted.num_rows}"
    raw = {rounded(row): row for table in (found, wanted) for row in table_rows(table)}
    ours, theirs = (Counter(map(rounded, table_rows(table))) for table in (found, wanted))
    missing = list((theirs - ours).elements())
    for extra in (ours - theirs).elements():
        same = next((each for each in missing if alike(raw[extra], raw[each])), None)
        if same is None:
            return f"has {extra} instead of {missing[0]}"
        missing.remove(same)
    return None


def table_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else []


def rounded(row: tuple[Any, ...]) -> str:
    """A row as text, floats to nine digits."""
    return repr(tuple(as_seen(value) for value in row))


def as_seen(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isnan(value) or math.isinf(value) else f"{value:.9g}"
    return value


def alike(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Whether two rows are the same but for the last digits of floats.

    Two sums that differ by their last digit may still fall to two sides of where rounding parts.

    >>> alike(("A", 16250349.349999998), ("A", 16250349.350000001)), alike(("A", 1.0), ("A", 1.1))
    (True, False)
    """
    return all(
        math.isclose(a, b, rel_tol=CLOSE) if isinstance(a, float) and isinstance(b, float)
        else a == b
        for a, b in zip(ours, theirs, strict=True)
    )  # fmt: skip


def register_functions(spark: SparkSession) -> None:
    """The user functions that some questions call: a plain one, and one over pandas."""
    spark.udf.register("loud_name", lambda text: text.upper() + "!", StringType())

    over_pandas: Any = pandas_udf
    spark.udf.register("squared", over_pandas(lambda values: values * values, LongType()))

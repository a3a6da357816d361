"""What is known of the types of aggregates without asking Spark is what Spark says."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from headway.early.algebra import Call, Term
from headway.early.rules.parts import FLOATING, WHOLE, known_types, wanted_types
from headway.engine.early.storage import type_text

pytestmark = pytest.mark.spark
DECIMALS = ("decimal(15,2)", "decimal(38,0)", "decimal(38,37)", "decimal(30,30)", "decimal(1,0)")
KINDS = (*WHOLE, *FLOATING, *DECIMALS)


def call_of(function: str) -> Call:
    value = Term("`t.v`", frozenset({"t.v"}))
    return Call("a", function, value, f"{function.upper()}(`t.v`)", columns=value.columns)


@pytest.mark.parametrize("kind", KINDS)
def test_types_of_a_column_that_is_summed_are_those_of_spark(
    spark: SparkSession, kind: str
) -> None:
    for function in ("sum", "avg", "min", "max"):
        call = call_of(function)
        texts = ", ".join(wanted_types(call))
        said = spark.sql(f"SELECT {texts} FROM (SELECT CAST(NULL AS {kind}) AS `t.v`)").schema
        assert known_types(call, {"t.v": kind}) == [type_text(one.dataType) for one in said]


@pytest.mark.parametrize("kind", ["string", "date", "boolean", "interval day to second", ""])
def test_spark_is_asked_about_other_types(kind: str) -> None:
    assert known_types(call_of("sum"), {"t.v": kind} if kind else {}) is None

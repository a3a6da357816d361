"""Rows between stages: computed once, however many read them."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headway.early.chunks import Chunk
from headway.engine.early.stages.parts import Below, held_in_memory
from headway.errors import RunError

pytestmark = pytest.mark.spark


def test_rows_that_stay_are_at_hand_when_they_are_read(spark: SparkSession) -> None:
    seen = spark.sparkContext.accumulator(0)

    def noted(number):  # type: ignore[no-untyped-def] # of hints Spark would make another kind
        seen.add(1)
        return number

    frame = spark.range(4).select(F.udf(noted, "bigint")("id").alias("c0"))
    let_go: list[str] = []
    below = Below(lambda: let_go.append("below"))
    part = held_in_memory(Chunk(0, 0), frame, below, read_again=True, now=False)
    assert seen.value == 0
    assert not let_go
    part.compute()
    assert seen.value == 4
    assert let_go == ["below"]
    for _ in range(2):
        assert sorted(row.c0 for row in part.read(spark).collect()) == [0, 1, 2, 3]
    assert seen.value == 4
    part.drop()
    assert let_go == ["below"], "once is enough"


@pytest.mark.parametrize(
    ("read_again", "now"), [(False, False), (False, True), (True, False), (True, True)]
)
def test_what_rows_are_made_of_stays_until_they_are_computed_or_dropped(
    read_again: bool, now: bool, spark: SparkSession
) -> None:
    let_go: list[str] = []
    frame = spark.range(4).selectExpr("id AS c0")
    below = Below(lambda: let_go.append("below"))
    part = held_in_memory(Chunk(0, 0), frame, below, read_again, now)
    assert let_go == (["below"] if read_again and now else [])
    part.drop()
    assert let_go == ["below"]


def test_what_fails_while_rows_are_computed_is_told_in_a_line(spark: SparkSession) -> None:
    frame = spark.range(2).selectExpr("raise_error('broken') AS c0")
    part = held_in_memory(Chunk(0, 0), frame, Below(lambda: None), read_again=True, now=False)
    with pytest.raises(RunError, match=r"the query failed while it ran: .*broken"):
        part.compute()
    part.drop()

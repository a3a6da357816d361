"""What Spark packs into one number is what comes out of it, and the wait is told from the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from headway.clock import SystemClock
from headway.engine.spark.gate.columns import ARRIVAL, ARRIVED, MAPPED, READ
from headway.engine.spark.realtime.meter import pause_and_fetch
from headway.engine.spark.realtime.stamps import (
    OLDEST_MS,
    READ_BITS,
    SHARE,
    mapped,
    now_ms,
    read_now,
    sketched,
    told,
)
from headway.engine.spark.realtime.write import ANSWERED, PASSED_ON, TAKEN, taken, times_of
from headway.measure.latency import Latency
from headway.measure.together import LONG_MS, Together

NOW_MS = 1_794_000_000_123
LEFT = "left_ms"


def read_at(ages_s: list[float], at_s: list[float]) -> Together:
    """Records, how old each was when it was read, and when that was."""
    ages = np.array(ages_s)
    return Together((ages, np.mod(at_s, LONG_MS / 1e3)), np.ones(len(ages)), 0.0, 0.0)


def observed(frame: DataFrame, aggregate: Column) -> dict[str, Any]:
    """What Spark sums up of rows that pass."""
    observation = Observation()
    frame.observe(observation, aggregate).collect()
    return observation.get


def test_records_that_had_come_before_the_interval_waited_for_its_first_record() -> None:
    opened_s = NOW_MS / 1e3
    read = read_at([0.5, 0.3, 0.004], [opened_s, opened_s + 0.01, opened_s + 2.0])
    pause, fetch = pause_and_fetch(read, opened_s - 0.4)
    assert pause.values_s == pytest.approx([0.0, 0.29, 0.5], abs=1e-6)
    assert fetch.values_s == pytest.approx([0.0, 0.004, 0.01], abs=1e-6)
    assert pause.mean_s + fetch.mean_s == pytest.approx(np.mean([0.5, 0.3, 0.004]))


def test_an_interval_that_began_before_its_first_record_came_paused_nobody() -> None:
    opened_s = NOW_MS / 1e3
    pause, fetch = pause_and_fetch(read_at([0.02], [opened_s]), opened_s - 0.4)
    assert (pause.max_s, fetch.max_s) == (0.0, pytest.approx(0.02))


@pytest.mark.parametrize("begun_s", [NOW_MS / 1e3 - 1, NOW_MS / 1e3 + 0.2])
def test_clocks_that_disagree_make_no_time_negative(begun_s: float) -> None:
    read = read_at([-0.2, 0.1], [NOW_MS / 1e3] * 2)
    pause, fetch = pause_and_fetch(read, begun_s)
    assert min(pause.min_s, fetch.min_s) >= 0
    assert max(pause.max_s, fetch.max_s) <= 0.1


def test_an_interval_of_two_hours_is_read_in_its_order() -> None:
    begun_s = NOW_MS / 1e3
    read = read_at([0.3, 0.01], [begun_s + 0.2, begun_s + 7_200])
    pause, fetch = pause_and_fetch(read, begun_s)
    assert pause.max_s == pytest.approx(0.3, abs=1e-6)
    assert fetch.max_s == pytest.approx(0.01, abs=1e-6)


def times_taken(frame: DataFrame, stateful: bool) -> dict[str, Latency]:
    """What is told of rows that left at a time they hold."""
    name = ANSWERED if stateful else PASSED_ON
    timed = frame.select("*", taken(stateful, F.col(LEFT)).alias(TAKEN))
    return times_of(observed(timed, sketched(name, F.col(TAKEN))))


@pytest.mark.spark
def test_times_of_answers_come_out_as_they_were_taken(spark: SparkSession) -> None:
    stamp = (NOW_MS + 40) * (1 << READ_BITS) + (NOW_MS + 33) % (1 << READ_BITS)
    rows = [(NOW_MS * 1_000, stamp, NOW_MS + 45), (NOW_MS * 1_000, None, NOW_MS + 70)]
    frame = spark.createDataFrame(rows, f"{ARRIVED} bigint, {MAPPED} bigint, {LEFT} bigint")
    found = times_taken(frame, stateful=True)
    assert {name: (part.count, part.mean_s) for name, part in found.items()} == {
        "whole": (1, pytest.approx(0.045)),
        "map": (1, pytest.approx(0.007)),
        "shuffle": (1, pytest.approx(0.005)),
    }


@pytest.mark.spark
def test_times_of_records_that_no_state_has_seen(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [((NOW_MS - 20) * 1_000, 20 * LONG_MS + NOW_MS % LONG_MS, NOW_MS + 3)],
        f"{ARRIVAL} bigint, {READ} bigint, {LEFT} bigint",
    )
    found = times_taken(frame, stateful=False)
    assert found["whole"].mean_s == pytest.approx(0.023)
    assert found["map"].mean_s == pytest.approx(0.003)
    assert found["shuffle"].count == 0


@pytest.mark.spark
def test_a_record_carries_when_it_was_read_in_the_bits_of_when_it_was_mapped(
    spark: SparkSession,
) -> None:
    read = spark.sql(f"SELECT 5 * {LONG_MS} + (unix_millis(now()) - 30) % {LONG_MS} AS {READ}")
    frame = mapped(read).withColumn(LEFT, F.expr(f"shiftright({MAPPED}, {READ_BITS}) + 2"))
    frame = frame.withColumn(ARRIVED, F.expr("(unix_millis(now()) - 35) * 1000"))
    found = times_taken(frame, stateful=True)
    assert 0.03 <= found["map"].mean_s < 60
    assert found["shuffle"].mean_s == pytest.approx(0.002)
    assert found["whole"].mean_s == pytest.approx(0.007 + found["map"].mean_s)


@pytest.mark.spark
def test_one_record_in_some_is_picked_wherever_it_stands_in_its_batch(spark: SparkSession) -> None:
    places = spark.range(5_000 * SHARE).selectExpr("id AS offset", "now() AS timestamp")
    picked = places.select("offset", read_now())
    taken_at = [row["offset"] for row in picked.where(F.col(READ).isNotNull()).collect()]
    assert len(taken_at) == 5_000
    for size in (7, 8, 10, 500):  # records that come in batches of one size
        counts = np.bincount(np.array(taken_at) % size, minlength=size)
        assert counts.max() - counts.min() <= 1


@pytest.mark.spark
def test_how_old_a_record_was_and_when_it_was_read_share_a_number(spark: SparkSession) -> None:
    years_ms = 3 * 365 * 24 * 3_600 * 1_000
    for ago_ms, told_ms in ((70, 70), (-200, -200), (years_ms, years_ms), (2**40, OLDEST_MS)):
        frame = spark.sql(
            f"SELECT 0 AS offset, timestamp_millis(unix_millis(now()) - {ago_ms}) AS timestamp, "
            "unix_millis(now()) AS now_ms"
        )
        row = frame.select(read_now(), "now_ms").collect()[0]
        age_ms, at_ms = divmod(row[READ], LONG_MS)
        # Spark's now() stands still while a query runs, its clock does not.
        assert 0 <= age_ms - told_ms < 60_000
        assert (at_ms - row["now_ms"]) % LONG_MS < 60_000


@pytest.mark.spark
def test_nothing_is_told_where_no_record_was_metered(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(None,)], f"{READ} bigint")
    row = observed(frame, sketched("read", F.col(READ)))
    assert told(row, "read") is None
    assert told(None, "read") is None


@pytest.mark.spark
def test_the_time_of_a_row_is_a_call_in_the_code_that_spark_makes(spark: SparkSession) -> None:
    frame = spark.range(3).select(now_ms().alias("at"))
    codegen: Any = spark._jvm.org.apache.spark.sql.execution.debug  # type: ignore[union-attr]
    plan = frame._jdf.queryExecution().executedPlan()
    assert "java.lang.System.currentTimeMillis()" in codegen.package.codegenString(plan)
    begun_ms = SystemClock().now_us() // 1_000
    times = [row["at"] for row in frame.collect()]
    assert begun_ms <= min(times) <= max(times) <= SystemClock().now_us() // 1_000

"""The tables of the early workloads come of files of real data as they come of nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headway.engine.early.proving.made import name_file
from headway.workloads.progressive import REAL_FILES, REAL_TABLES, made_tables
from headway.workloads.real import REAL, find_real

pytestmark = pytest.mark.spark
FEATURES = "81ce,03a5,7bc9,c39b"
LINES = {
    "tweets": '{"time": "2020-03-01T00:04:58-05:00", "user": "a", "text": "A Climate bill, today"}',
    "impressions": "timestamp,policy,campaign,item_id,position,click,propensity_score,"
    "user_feature_0,user_feature_1,user_feature_2,user_feature_3\n"
    f"2019-11-24 00:00:17.004101+00:00,bts,all,79,2,0,0.087125,{FEATURES}\n"
    f"2019-11-24 00:00:19.715857+00:00,bts,all,14,1,1,0.006235,{FEATURES}",
    "retail": "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n"
    '536365,85123A,"HEART, WHITE",6,2010-12-01 08:26:00,2.5,17850.0,United Kingdom',
}


@pytest.fixture
def named(spark: SparkSession, tmp_path: Path) -> SparkSession:
    """A session in which the real files have names."""
    for name in REAL_FILES:
        (tmp_path / REAL[name].file).write_bytes(gzip.compress(LINES[name].encode()))
        name_file(spark, name, find_real(name, tmp_path), REAL[name].schema)
    return spark


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("searches", [("a", "climate"), ("a", "bill"), ("a", "today")]),
        ("impressions", [("81ce-03a5-7bc9-c39b", 79), ("81ce-03a5-7bc9-c39b", 14)]),
        ("clicks", [("81ce-03a5-7bc9-c39b", 14)]),
        ("visits", [("United Kingdom", 15.0)]),
    ],
)
def test_real_files_give_rows(
    named: SparkSession, table: str, rows: list[tuple[object, ...]]
) -> None:
    assert [tuple(row) for row in named.sql(getattr(REAL_TABLES, table)).collect()] == rows


@pytest.mark.parametrize("table", ["searches", "impressions", "clicks", "visits"])
def test_made_and_real_tables_share_the_columns_that_are_asked_for(
    named: SparkSession, table: str
) -> None:
    real, made = (
        set(named.sql(getattr(tables, table)).columns) for tables in (REAL_TABLES, made_tables(100))
    )
    assert real <= made

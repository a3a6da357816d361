"""Sessions: checked, not overwritten."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.engine.spark.session import (
    check_session,
    forget_yarn,
    installed,
    owners,
    packed_headway,
)
from headway.errors import SessionError
from tests.engine.contract import test_contract


def test_a_connect_session_is_told_what_is_missing_there() -> None:
    connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(SessionError, match=r"Spark Connect.*JVM.*classic session"):
        check_session(connect)


def test_another_spark_is_refused() -> None:
    old = type("SparkSession", (), {"version": "4.1.0"})()
    with pytest.raises(SessionError, match=r"needs Spark 4.3; this session runs 4.1.0"):
        check_session(old)


def test_workers_that_would_run_another_python_are_refused() -> None:
    context = type("Context", (), {"pythonExec": "/usr/bin/other-python"})()
    stray = type("SparkSession", (), {"version": "4.3.0", "sparkContext": context})()
    with pytest.raises(SessionError, match="set PYSPARK_PYTHON"):
        check_session(stray)


@pytest.mark.spark
def test_a_session_of_the_users_is_taken_with_its_settings(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert check_session(spark) is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_classes_that_workers_cannot_import_travel_by_value() -> None:
    flow = hw.replay([{"user": "a", "size": 1}]).pair(test_contract.Counting()).to("console")
    assert test_contract in owners(flow)
    assert not installed(test_contract)
    assert installed(pytest)


def test_headway_packs_itself_for_other_hosts() -> None:
    packed = packed_headway()
    assert packed.stat().st_size > 10_000
    assert packed.suffix == ".zip"


@pytest.mark.spark
def test_tasks_are_not_told_about_yarn(spark: SparkSession) -> None:
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.set("yarn.nodemanager.aux-services", "one")
    forget_yarn(spark)
    assert settings.getPropsWithPrefix("yarn.").isEmpty()
    assert settings.get("fs.s3a.impl") == "org.apache.hadoop.fs.s3a.S3AFileSystem"
    sent = spark._jsparkSession.sessionState().newHadoopConf()
    assert sent.getPropsWithPrefix("yarn.").isEmpty()

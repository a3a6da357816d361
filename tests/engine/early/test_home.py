"""Asking leaves the user's Spark as it was: the active session is theirs, and no copy stays."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headway.engine.early.ask import ask, progress

pytestmark = pytest.mark.spark
QUESTION = "SELECT k, count(*) AS n FROM t GROUP BY k"


def active() -> object:
    session = SparkSession.getActiveSession()
    assert session is not None
    return session._jsparkSession.sessionUUID()


def test_the_active_session_stays_that_of_whoever_asks(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame([(1,)], "a int")  # as users do, which makes it the active one
    mine = spark._jsparkSession.sessionUUID()
    few = spark.range(3).selectExpr("id AS k")
    stored = progress(few, by="k", points=20, folder=tmp_path / "t")
    assert 0 in stored.entering  # so that points are asked that have no files
    answers = list(ask(QUESTION, {"t": stored}, spark=spark))
    assert active() == mine
    behind = answers[-1].why(k=2)
    assert (behind.replayed.to_pylist(), active()) == ([{"k": 2, "n": 1}], mine)


def test_an_answer_is_a_frame_of_the_session_that_asked(
    spark: SparkSession, tmp_path: Path
) -> None:
    stored = progress(spark.range(6).selectExpr("id % 2 AS k"), by="k", points=2, folder=tmp_path)
    answers = list(ask(QUESTION, {"t": stored}, spark=spark))
    answers[-1].df.createOrReplaceTempView("found_early")
    try:
        assert spark.sql("SELECT sum(n) FROM found_early").first() == (6,)
    finally:
        spark.catalog.dropTempView("found_early")


def test_the_copy_of_a_dimension_is_gone_with_its_question(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "passing"))
    (tmp_path / "passing").mkdir()
    stored = progress(spark.range(6).selectExpr("id AS k"), by="k", points=2, folder=tmp_path / "t")
    names = spark.range(6).selectExpr("id AS k", "CONCAT('n', id) AS name")
    question = "SELECT name, count(*) AS n FROM t JOIN d ON t.k = d.k GROUP BY name"
    answer = list(ask(question, {"t": stored, "d": names}, spark=spark))[-1]
    gc.collect()
    assert len(list((tmp_path / "passing").glob("headway-*/d"))) == 1
    assert answer.why(name="n3").tuples["d"].to_pylist() == [{"k": 3, "name": "n3"}]
    del answer
    gc.collect()
    assert list((tmp_path / "passing").glob("headway-*")) == []


def test_a_text_in_a_question_is_not_taken_for_a_point(spark: SparkSession, tmp_path: Path) -> None:
    mails = spark.range(40).selectExpr("id AS k", "'Dear {first} {last} {rows}' AS body")
    stored = progress(mails, by="k", points=4, folder=tmp_path / "t")
    question = "SELECT count(*) AS n FROM m WHERE body = 'Dear {first} {last} {rows}'"
    found = [answer.table["n"][0].as_py() for answer in ask(question, {"m": stored}, spark=spark)]
    assert found == [sum(stored.entering[: n + 1]) for n in range(4)]

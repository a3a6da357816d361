"""Answers that are kept go with the values they were computed from, wherever these lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headway.early.sampling import Sampling
from headway.engine.early import storage
from headway.engine.early.ask import ask, progress
from headway.engine.early.storage import Stored, open_stored
from headway.errors import QueryError
from headway.measure.costs.lanes import Lanes

pytestmark = pytest.mark.spark
POINTS = 4
SUM = "SELECT sum(v) AS s FROM t"
SUM_OF_BOTH = "SELECT sum(t.v * d.w) AS s FROM t JOIN d ON t.k = d.k"


def keyed(spark: SparkSession, value: str) -> DataFrame:
    return spark.range(60).selectExpr("id AS k", f"{value} AS v")


def annotated(frame: DataFrame, folder: Path) -> Stored:
    return progress(frame, by="k", points=POINTS, folder=folder)


def told(sql: str, tables: dict[str, Stored | DataFrame], folder: Path, upto: int) -> list[str]:
    """The first answers of a question whose answers are kept, by their fingerprints."""
    asking = ask(sql, tables, folder=folder, chunk=1)
    return [one.fingerprint for _, one in zip(range(upto), asking, strict=False)]


def test_answers_are_not_continued_over_other_values(spark: SparkSession, tmp_path: Path) -> None:
    old = annotated(keyed(spark, "id"), tmp_path / "t")
    told(SUM, {"t": old}, tmp_path / "kept", 2)
    new = annotated(keyed(spark, "IF(id = 7, 70, id)"), tmp_path / "t")
    assert new.entering == old.entering
    with pytest.raises(QueryError, match="to another question, or over other data"):
        ask(SUM, {"t": new}, folder=tmp_path / "kept")
    ask(SUM, {"t": new}, folder=tmp_path / "new")


def test_answers_are_not_continued_beside_another_dimension(
    spark: SparkSession, tmp_path: Path
) -> None:
    stored = annotated(keyed(spark, "id"), tmp_path / "t")
    names = spark.range(60).selectExpr("id AS k", "id % 5 AS w")
    told(SUM_OF_BOTH, {"t": stored, "d": names}, tmp_path / "kept", 2)
    others = spark.range(60).selectExpr("id AS k", "id % 6 AS w")
    with pytest.raises(QueryError, match="over other data"):
        ask(SUM_OF_BOTH, {"t": stored, "d": others}, folder=tmp_path / "kept")


def test_the_same_data_annotated_elsewhere_continues_the_answers(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = spark.range(60).selectExpr("id AS k", "id % 5 AS w")
    stored = annotated(keyed(spark, "id"), tmp_path / "t")
    first = told(SUM_OF_BOTH, {"t": stored, "d": names}, tmp_path / "kept", 2)
    for cores in (1, 3):
        monkeypatch.setattr(storage, "lanes_of", lambda _, n=cores: Lanes(n, n))
        spread = keyed(spark, "id").repartition(5 * cores)
        again = annotated(spread.orderBy("v", ascending=False), tmp_path / str(cores))
        assert len(again.files[0]) != len(stored.files[0])
        assert open_stored(again.folder).said == stored.said
        tables = {"t": again, "d": names.repartition(cores)}
        asking = ask(SUM_OF_BOTH, tables, folder=tmp_path / "kept", chunk=1)
        assert [one.fingerprint for one in asking][:2] == first


# What a hash of Spark's does not tell apart, or has none of.
ALIKE = {
    "null in another column": ("5 AS a, NULL AS b", "NULL AS a, 5 AS b"),
    "null elsewhere in an array": ("array(1, NULL) AS a", "array(NULL, 1) AS a"),
    "where an inner array ends": ("array(array(1), array(2)) AS a", "array(array(1, 2)) AS a"),
    "none and an empty one": ("array(1) AS a, array() AS b", "array(1) AS a, NULL AS b"),
    "null within": ("struct(NULL AS `a b`, 1 AS c) AS a", "struct(1 AS `a b`, NULL AS c) AS a"),
    "a map": ("map(1, array(2)) AS a", "map(1, array(3)) AS a"),
    "a map in a map": ("map(1, map(2, 3)) AS a", "map(1, map(2, 4)) AS a"),
    "a variant": ("parse_json('{\"a\": [1]}') AS a", "parse_json('{\"a\": [2]}') AS a"),
    "the sign of zero": ("CAST('-0.0' AS DOUBLE) AS a", "CAST('0.0' AS DOUBLE) AS a"),
    "the sign of zero within": ("array(CAST('-0.0' AS FLOAT)) AS a", "array(0.0F) AS a"),
    "a type": ("CAST(1.0 AS DECIMAL(3,1)) AS a", "CAST(0.10 AS DECIMAL(3,2)) AS a"),
    "a name": ("1 AS a", "1 AS b"),
    "as often": ("IF(k < 2, 1, 2) AS a", "IF(k < 4, 1, 2) AS a"),
}  # fmt: skip


@pytest.mark.parametrize("case", ALIKE)
def test_values_that_hashes_hold_alike_are_told_apart(
    spark: SparkSession, tmp_path: Path, case: str
) -> None:
    said = [
        annotated(spark.range(8).selectExpr("id AS k").selectExpr("k", shown), tmp_path / name).said
        for name, shown in (
            ("one", f"struct({ALIKE[case][0]}) AS v"),
            ("other", f"struct({ALIKE[case][1]}) AS v"),
            ("again", f"struct({ALIKE[case][0]}) AS v"),
        )
    ]
    assert said[0] == said[2]
    assert said[0] != said[1]


def test_a_table_without_tuples_is_the_same_each_time(spark: SparkSession, tmp_path: Path) -> None:
    none = spark.range(0).selectExpr("id AS k", "id AS v")
    by_key, from_start = Sampling("key", ("k",), POINTS), Sampling("start", points=1)
    for sampling, entering in ((by_key, (0,) * POINTS), (from_start, (0,))):
        one, other = (progress(none, sampling, folder=tmp_path / name) for name in ("a", "b"))
        assert one.entering == entering
        assert one.said == other.said
        for name in ("a", "b"):
            storage.shutil.rmtree(tmp_path / name)

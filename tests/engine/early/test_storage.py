"""Annotated tables at rest: the same progress each time, whole or not there, and every strategy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from headway.early.sampling import Sampling
from headway.engine.early.ask import ask, progress
from headway.engine.early.storage import MANIFEST, open_stored, view_upto
from headway.errors import QueryError, RunError

pytestmark = pytest.mark.spark


def rows_of(spark: SparkSession, folder: Path, last: int) -> list[tuple[int, int]]:
    rows = spark.sql(f"SELECT id, hw_from FROM {view_upto(spark, open_stored(folder), last)}")
    return sorted((row["id"], row["hw_from"]) for row in rows.collect())


def test_annotating_twice_gives_the_same_progress(spark: SparkSession, tmp_path: Path) -> None:
    numbers = spark.range(1000)
    one = progress(numbers, by="id", points=7, folder=tmp_path / "one")
    other = progress(numbers.repartition(3), by="id", points=7, folder=tmp_path / "other")
    assert one.entering == other.entering
    assert rows_of(spark, tmp_path / "one", 6) == rows_of(spark, tmp_path / "other", 6)
    assert [point for _, point in rows_of(spark, tmp_path / "one", 2)] == [
        point for _, point in rows_of(spark, tmp_path / "one", 6) if point <= 2
    ]


@pytest.mark.parametrize(
    ("sampling", "entering"),
    [
        (Sampling("order", ("id DESC",), 3, growth=2.0), (15, 28, 57)),
        (Sampling("own", ("id % 3",), 3), (34, 33, 33)),
        (Sampling("strata", ("rare",), 10, least=3), None),
    ],
    ids=["order", "own", "strata"],
)
def test_each_strategy_lets_tuples_in_as_it_says(
    spark: SparkSession, tmp_path: Path, sampling: Sampling, entering: tuple[int, ...] | None
) -> None:
    frame = spark.range(100).selectExpr("id", "id < 4 AS rare")
    stored = progress(frame, by=sampling, folder=tmp_path / "t")
    assert sum(stored.entering) == 100
    if entering is not None:
        assert stored.entering == entering
    else:
        view = view_upto(spark, stored, 0)
        first = spark.sql(f"SELECT rare, count(*) FROM {view} GROUP BY rare").collect()
        assert dict(map(tuple, first)) == {True: 3, False: 10}


def test_tuples_that_stay_for_a_while_leave_again(spark: SparkSession, tmp_path: Path) -> None:
    stored = progress(
        spark.range(90), by=Sampling("order", ("id",), 9, stay=2), folder=tmp_path / "t"
    )
    answers = list(ask("SELECT count(*) AS n, min(id) AS least FROM t", {"t": stored}, spark=spark))
    assert [one.table.to_pylist()[0] for one in answers] == [
        {"n": 10 if point == 0 else 20, "least": max(0, point - 1) * 10} for point in range(9)
    ]


def test_a_table_without_its_manifest_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    progress(spark.range(10), by="id", points=2, folder=tmp_path / "t")
    kept = (tmp_path / "t" / MANIFEST).read_text()
    (tmp_path / "t" / MANIFEST).write_text(kept[:40])
    with pytest.raises(QueryError, match="annotate the table again"):
        open_stored(tmp_path / "t")
    (tmp_path / "t" / MANIFEST).unlink()
    with pytest.raises(QueryError, match=r"hw\.progress"):
        open_stored(tmp_path / "t")
    assert json.loads(kept)["sampling"]["by"] == ["id"]


def test_what_a_folder_holds_is_not_replaced_by_another_sample(
    spark: SparkSession, tmp_path: Path
) -> None:
    stored = progress(spark.range(10), by="id", points=2, folder=tmp_path / "t")
    with pytest.raises(QueryError, match=r"annotated otherwise \(by key id, 2 points, seed 0\)"):
        progress(spark.range(10), by="id", points=3, folder=tmp_path / "t")
    again = progress(spark.range(10), by="id", points=2, folder=tmp_path / "t")
    assert again.entering == stored.entering
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    (tmp_path / "mine" / MANIFEST).write_text("{}")
    with pytest.raises(QueryError, match="holds something else"):
        progress(spark.range(10), by="id", points=2, folder=tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
    (tmp_path / "t" / MANIFEST).unlink()  # as a kill between two steps of its removal leaves it
    assert progress(spark.range(10), by="id", points=3, folder=tmp_path / "t").sampling.points == 3


REFUSED = [
    ("SELECT nothing FROM t", r"nothing(?!.*line 1 pos)"),
    ("SELECT * FROM elsewhere", "reads elsewhere, but its tables are t"),
    ("SELECT rand() FROM t", "another value in each run"),
    ("SELECT id FROM t TABLESAMPLE (5 ROWS)", "--by"),
    ("INSERT INTO t VALUES (1)", "only a SELECT"),
    ("SELECT FROM WHERE", "does not parse"),
    ("SELECT by_chance(id) FROM t", "not deterministic"),
]


def test_a_question_that_cannot_be_answered_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    spark.udf.register("by_chance", udf(lambda x: x, "bigint").asNondeterministic())
    stored = progress(spark.range(10), by="id", points=2, folder=tmp_path / "t")
    for sql, said in REFUSED:
        with pytest.raises(QueryError, match=said):
            ask(sql, {"t": stored}, spark=spark)
    with pytest.raises(RunError, match="DIVIDE_BY_ZERO"):
        list(ask("SELECT sum(1 / (id - id)) AS s FROM t", {"t": stored}, spark=spark))


def test_a_sample_by_what_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="cannot be drawn by nothing"):
        progress(spark.range(5), by=Sampling("order", ("nothing",), 2), folder=tmp_path / "t")


def test_annotating_the_same_again_leaves_the_files_that_are_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.range(40).selectExpr("id AS k", "id AS v")
    first = progress(rows, by="k", points=2, folder=tmp_path / "t")
    before = sorted(path.name for path in (tmp_path / "t").rglob("*.parquet"))
    again = progress(rows.repartition(3), by="k", points=2, folder=tmp_path / "t")
    assert sorted(path.name for path in (tmp_path / "t").rglob("*.parquet")) == before
    assert (again, first.lost) == (first, False)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_table_whose_files_were_replaced_says_so(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(40).selectExpr("id AS k", "id AS v")
    old = progress(rows, by="k", points=2, folder=tmp_path / "t")
    asked = ask("SELECT sum(v) AS s FROM t", {"t": old}, spark=spark)
    new = progress(rows.selectExpr("k", "v + 1 AS v"), by="k", points=2, folder=tmp_path / "t")
    with pytest.raises(QueryError, match="other data was annotated there since"):
        ask("SELECT sum(v) AS s FROM t", {"t": old}, spark=spark)
    with pytest.raises(QueryError, match="other data was annotated there since"):
        next(iter(asked))
    answers = list(ask("SELECT sum(v) AS s FROM t", {"t": new}, spark=spark))
    assert answers[-1].table["s"].to_pylist() == [820]


def test_a_table_with_maps_is_a_dimension(spark: SparkSession, tmp_path: Path) -> None:
    moving = progress(spark.range(9), by="id", points=2, folder=tmp_path / "t")
    there = spark.range(9).selectExpr("id AS k", "map(id, id + 1) AS m")
    sql = "SELECT sum(m[k]) AS s FROM t JOIN d ON id = k"
    *_, last = ask(sql, {"t": moving, "d": there}, spark=spark)
    assert last.table.to_pylist() == [{"s": 45}]

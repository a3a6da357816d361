"""Early answers on Spark: exact at every point, the same in every way of asking."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headway.benches.early.questions import all_questions
from headway.engine.early.ask import ask, progress
from headway.engine.early.proving.exactness import check_points
from headway.engine.early.proving.library import Library, growing, mixed
from headway.engine.early.proving.oracle import register_functions
from headway.errors import QueryError
from headway.workloads.tpch.data import make_tables

pytestmark = [pytest.mark.spark, pytest.mark.slow]
POINTS = 4
# Some of the questions; the benchmark of exactness asks all of them.
ASKED = [
    ("q18", mixed), ("full_join", growing), ("scalar_beside_rows", growing), ("float_sums", mixed),
    ("left_join_aligned", growing), ("rollup_of_none", growing),
    ("groups_of_unlike_types", mixed), ("semi_join_of_unlike_types", growing),
    ("extremes_with_ties", mixed), ("cut_of_a_union", growing), ("ordered_without_a_rule", mixed),
]  # fmt: skip
QUESTIONS = {question.name: question for question in all_questions()}


@pytest.fixture(scope="module")
def library(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("tpch")
    register_functions(spark)
    return Library(spark, folder / "annotated", make_tables(folder / "tables", 0.001))


@pytest.mark.parametrize(("name", "way"), ASKED, ids=lambda one: getattr(one, "__name__", one))
def test_every_answer_is_the_query_over_the_tuples_of_its_point(
    name: str, way: object, library: Library, spark: SparkSession
) -> None:
    question = QUESTIONS[name]
    asking = ask(question.sql, library.open(question.keys, POINTS, way), spark=spark)  # type: ignore[arg-type]
    assert list(check_points(asking, question.checked_by)) == []


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT r_name, x {} ORDER BY r_name DESC", True),
        ("(SELECT r_name, x {} ORDER BY r_name DESC)", True),
        ("SELECT r_name, map(x, 1) AS m {} ORDER BY r_name", False),
    ],
)
def test_rows_without_a_rule_keep_their_order_or_it_is_said(
    sql: str, ordered: bool, library: Library, spark: SparkSession
) -> None:
    tables = library.open({"region": "r_regionkey"}, 2)
    unruled = "FROM region LATERAL VIEW explode(array(1)) e AS x"
    asking = ask(sql.format(unruled), tables, spark=spark)
    assert asking.explained.operator == "query"
    assert ("in no order" in asking.explained.because) is not ordered
    if ordered:
        names = list(asking)[-1].table["r_name"].to_pylist()
        assert names == sorted(names, reverse=True)
        assert len(names) > 1


@pytest.mark.parametrize("name", ["float_sums_beside", "float_sums_of_all", "lateral_view"])
def test_any_chunking_gives_the_same_bytes(
    name: str, library: Library, spark: SparkSession
) -> None:
    question = QUESTIONS[name]
    tables = library.open(question.keys, POINTS)
    told = [
        [answer.fingerprint for answer in ask(question.sql, tables, chunk=size, spark=spark)]
        for size in (None, 2)
    ]
    assert len(told[0]) == POINTS
    assert all(one == told[0] for one in told)


def test_what_is_distinct_is_kept_from_chunk_to_chunk(
    library: Library, spark: SparkSession
) -> None:
    tables = library.open({"lineitem": "l_orderkey"}, POINTS)
    for sql in (
        "SELECT l_shipmode, COUNT(DISTINCT l_suppkey) AS n FROM lineitem GROUP BY l_shipmode",
        "SELECT DISTINCT l_shipmode, l_linestatus FROM lineitem",
        "SELECT l_shipmode, COUNT(DISTINCT l_suppkey) AS n FROM lineitem "
        "WHERE l_shipmode <> 'AIR' AND l_shipmode NOT LIKE 'REG%' GROUP BY l_shipmode",
    ):
        asking = ask(sql, tables, chunk=1, spark=spark)
        assert asking.plan.slices
        assert list(check_points(asking, sql)) == []


@pytest.mark.parametrize("name", ["float_sums_beside", "float_sums_of_all"])
def test_a_sum_of_floats_is_exact_beside_what_cannot_be_taken_apart(
    name: str, library: Library, spark: SparkSession
) -> None:
    question = QUESTIONS[name]
    for points in (1, POINTS):
        tables = library.open(question.keys, points)
        *_, last = ask(question.sql, tables, spark=spark)
        price = "CAST(l_extendedprice AS DOUBLE) / 3 AS price"
        stored = spark.read.parquet(str(tables["lineitem"].folder))
        rows = stored.selectExpr("l_returnflag", price).collect()
        for row in last.table.to_pylist():
            wanted = [one.price for one in rows if row.get("l_returnflag") in (None, one[0])]
            assert row["third"] == math.fsum(wanted)


@pytest.mark.parametrize("scale", ["1e30", "1e-25", "1e-9", "1"])
def test_floats_of_any_size_are_summed(scale: str, spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(1000).selectExpr("id", f"(id + 0.1D) * {scale}D AS x")
    stored = progress(frame, by="id", points=2, folder=tmp_path / "t")
    asked = "SELECT sum(x) AS s, avg(x) FILTER (WHERE id >= 0) AS a{} FROM t"
    for beside in ("", ", percentile(id, 0.5) AS p"):
        *_, last = ask(asked.format(beside), {"t": stored}, spark=spark)
        row, wanted = last.table.to_pylist()[0], sum(range(1000)) + 100.0
        assert row["s"] == pytest.approx(wanted * float(scale), rel=1e-13)
        assert row["a"] == pytest.approx(wanted * float(scale) / 1000, rel=1e-13)


def test_fewer_points_are_the_same_answers_without_annotating_again(
    library: Library, spark: SparkSession
) -> None:
    tables = library.open(QUESTIONS["q03"].keys, POINTS)
    all_of_them = list(ask(QUESTIONS["q03"].sql, tables, spark=spark))
    half = list(ask(QUESTIONS["q03"].sql, tables, points=2, spark=spark))
    assert [one.fingerprint for one in half] == [all_of_them[n].fingerprint for n in (1, 3)]
    assert half[-1].is_final
    assert half[-1].progress == 1.0


def test_a_question_that_was_stopped_goes_on_after_its_last_complete_point(
    library: Library, spark: SparkSession, tmp_path: Path
) -> None:
    question = QUESTIONS["q05"]
    tables = library.open(question.keys, POINTS)
    whole = [one.fingerprint for one in ask(question.sql, tables, spark=spark)]
    begun = ask(question.sql, tables, folder=tmp_path / "kept", chunk=1, spark=spark)
    first = [one.fingerprint for _, one in zip(range(2), begun, strict=False)]
    resumed = ask(question.sql, tables, folder=tmp_path / "kept", chunk=3, spark=spark)
    assert [one.fingerprint for one in resumed] == whole
    assert whole[:2] == first
    assert [one.chunk.first for one in resumed.spent] == [0, 1, 2]
    with pytest.raises(QueryError, match="another question"):
        ask(QUESTIONS["q03"].sql, tables, folder=tmp_path / "kept", spark=spark)


def test_an_early_row_replays_from_the_tuples_behind_it(
    library: Library, spark: SparkSession
) -> None:
    question = QUESTIONS["q03"]
    answers = list(ask(question.sql, library.open(question.keys, POINTS), spark=spark))
    early = answers[1]
    row = early.table.slice(0, 1).to_pylist()[0]
    found = early.why(l_orderkey=row["l_orderkey"])
    assert found.replayed.to_pylist() == [row]
    assert found.tuples["orders"]["o_orderkey"].to_pylist() == [row["l_orderkey"]]
    assert set(found.tuples["lineitem"]["l_orderkey"].to_pylist()) == {row["l_orderkey"]}
    assert found.tuples["customer"].num_rows == 1
    with pytest.raises(QueryError, match="not by a total"):
        early.why(revenue=row["revenue"])

"""What is right is found without what is to be proved: it does not know how the files lie."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from headway.early.chunks import Chunk
from headway.engine.early.ask import ask, progress
from headway.engine.early.evaluate import SqlPlan
from headway.engine.early.proving import oracle
from headway.engine.early.proving.exactness import check_points
from headway.engine.early.views import analysed

pytestmark = pytest.mark.spark
BUCKETED = ("SelectedBucketsCount", "Bucketed: true")
SQL = "SELECT a.k, sum(a.v * b.v) AS s FROM a, b WHERE a.k = b.k GROUP BY a.k"


def shown(frame: DataFrame) -> str:
    """What Spark does, now: a plan is made by the settings of this moment."""
    plan = frame._jdf.queryExecution().executedPlan()
    leaves = plan.collectLeaves()
    scans = [leaves.apply(n).verboseStringWithOperatorId() for n in range(leaves.size())]
    return str(plan.toString()) + "".join(map(str, scans))


def test_the_batch_query_scans_plainly_whatever_was_asked_before(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spark.range(80).selectExpr("id AS k", "id AS v")
    tables = {name: progress(rows, by="k", points=2, folder=tmp_path / name) for name in ("a", "b")}
    planned: list[str] = []

    def noted(session: SparkSession, sql: str) -> DataFrame:
        frame = analysed(session, sql)
        planned.append(shown(frame))
        return frame

    monkeypatch.setattr(oracle, "analysed", noted)
    for _ in range(3):
        asking = ask(SQL, tables, spark=spark)
        assert list(check_points(asking, SQL)) == []
        assert isinstance(asking.plan, SqlPlan)
        ours = shown(asking.plan.job(Chunk(1, 1)).frame)
        assert any(sign in ours for sign in BUCKETED)
    assert len(planned) == 3 * 2
    assert not [text for text in planned if any(sign in text for sign in BUCKETED)]


def test_the_same_rows_in_another_order_are_told() -> None:
    rows = pa.table({"k": [1, 2, 3], "v": [0.1 + 0.2, 1.0, 2.0]})
    close = pa.table({"k": [1, 2, 3], "v": [0.3, 1.0, 2.0]})
    assert oracle.order_differs(rows, close) is None
    told = oracle.order_differs(rows, close.take([0, 2, 1]))
    assert told is not None
    assert told.startswith("row 1 is")

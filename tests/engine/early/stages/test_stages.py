"""Questions that feed each other on Spark: the answers of the whole query, however they run."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headway.early.chunks import Chunk
from headway.early.progress import FROM, UNTIL
from headway.early.reducing import Batch, Reducer
from headway.early.sampling import Sampling
from headway.engine.early import asking
from headway.engine.early.ask import ask, progress
from headway.engine.early.asking import Asking
from headway.engine.early.storage import Stored, open_stored
from headway.errors import HeadwayError, QueryError, RunError
from tests.waiting import until

pytestmark = pytest.mark.spark
POINTS = 5
PER_USER = "SELECT user, count(*) AS n, sum(size) AS size FROM clicks GROUP BY user"
PER_N = "SELECT n % 3 AS rest, sum(size) AS size, count(*) AS users FROM per_user GROUP BY n % 3"
LARGEST = "SELECT max(size) AS size, sum(users) AS users FROM per_n"
WHOLE = f"""
WITH per_user AS ({PER_USER}), per_n AS ({PER_N}) SELECT * FROM ({LARGEST})"""


@pytest.fixture(scope="module")
def clicks(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Stored:
    frame = spark.range(2_000).selectExpr(
        "CAST(PMOD(XXHASH64(id), 97) AS INT) AS user", "CAST(id % 11 AS INT) AS size"
    )
    return progress(frame, "user", points=POINTS, folder=tmp_path_factory.mktemp("clicks") / "t")


@pytest.fixture(scope="module")
def wanted(clicks: Stored, spark: SparkSession) -> list[str]:
    return [answer.fingerprint for answer in ask(WHOLE, {"clicks": clicks}, spark=spark)]


def pipeline(clicks: Stored, folder: Path | None = None, **options: Any) -> Asking:
    """Three stages; with a folder, each of them keeps what it hands over."""

    def place(name: str) -> Path | None:
        return folder / name if folder else None

    per_user = ask(PER_USER, {"clicks": clicks}, folder=place("per_user"), **options)
    per_n = ask(PER_N, {"per_user": per_user}, folder=place("per_n"), **options)
    return ask(LARGEST, {"per_n": per_n}, folder=place("largest"), **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"chunk": 1}, {"chunk": 2, "at_once": False}],
    ids=["paced", "point by point", "in turn"],
)
def test_stages_answer_as_the_whole_query_does(
    clicks: Stored, wanted: list[str], options: dict[str, Any], spark: SparkSession
) -> None:
    kept_before = len(spark.sparkContext._jsc.getPersistentRDDs())
    assert [one.fingerprint for one in pipeline(clicks, **options)] == wanted
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) == kept_before


def test_a_pipeline_goes_on_where_it_was_stopped(
    clicks: Stored, wanted: list[str], tmp_path: Path
) -> None:
    begun = pipeline(clicks, tmp_path, chunk=1)
    first = [one.fingerprint for _, one in zip(range(2), begun, strict=False)]
    assert first == wanted[:2]
    threads = threading.active_count()
    resumed = pipeline(clicks, tmp_path, chunk=2)
    assert [one.fingerprint for one in resumed] == wanted
    assert threading.active_count() <= threads
    again = pipeline(clicks, tmp_path)
    assert [one.fingerprint for one in again] == wanted
    assert all(one.measured_s == 0 for one in again.spent), "all was there, nothing is computed"


def test_rows_that_were_lost_with_an_executor_are_computed_again(
    clicks: Stored, wanted: list[str], spark: SparkSession
) -> None:
    found = []
    for answer in pipeline(clicks, chunk=1):
        found.append(answer.fingerprint)
        if answer.point == 2:
            for held in spark.sparkContext._jsc.getPersistentRDDs().values():
                held.unpersist(True)
    assert found == wanted


def test_one_stage_may_feed_two_and_meet_itself_again(clicks: Stored, spark: SparkSession) -> None:
    per_user = ask(PER_USER, {"clicks": clicks})
    most = ask("SELECT max(n) AS n FROM per_user", {"per_user": per_user})
    sql = (
        "SELECT count(*) AS users, sum(size) AS size FROM per_user JOIN most ON per_user.n = most.n"
    )
    found = [one.fingerprint for one in ask(sql, {"per_user": per_user, "most": most}, chunk=2)]
    whole = f"""
    WITH per_user AS ({PER_USER}), most AS (SELECT max(n) AS n FROM per_user) {sql}"""
    assert found == [one.fingerprint for one in ask(whole, {"clicks": clicks}, chunk=3)]


@pytest.fixture
def nothing_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are not there when they are read fail the question, and are not computed again."""
    monkeypatch.setattr(asking, "TRIES", 0)


TOP = "SELECT max(size) AS m FROM per_n"
FEWEST = "SELECT min(users) AS u FROM per_n"
MET = f"""
WITH per_user AS ({PER_USER}), per_n AS ({PER_N}), top AS ({TOP}), fewest AS ({FEWEST})
SELECT m, u FROM top CROSS JOIN fewest"""


def diamond(clicks: Stored, folder: Path | None = None, **options: Any) -> Asking:
    """Four stages, of which one feeds two that meet; with a folder, that one is kept on disk."""
    per_user = ask(PER_USER, {"clicks": clicks}, **options)
    per_n = ask(PER_N, {"per_user": per_user}, folder=folder, **options)
    top = ask(TOP, {"per_n": per_n}, **options)
    fewest = ask(FEWEST, {"per_n": per_n}, **options)
    assert not any(one.forgets for one in (per_n, top, fewest))
    return ask("SELECT m, u FROM top CROSS JOIN fewest", {"top": top, "fewest": fewest}, **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"chunk": 1}, {"chunk": 2, "at_once": False}],
    ids=["paced", "point by point", "in turn"],
)
def test_rows_that_two_stages_read_stay_until_those_are_computed(
    clicks: Stored, options: dict[str, Any], spark: SparkSession, nothing_lost: None
) -> None:
    kept_before = len(spark.sparkContext._jsc.getPersistentRDDs())
    found = [one.fingerprint for one in diamond(clicks, **options)]
    assert found == [one.fingerprint for one in ask(MET, {"clicks": clicks}, spark=spark)]
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) == kept_before


def test_a_diamond_over_rows_on_disk_goes_on_where_it_was_stopped(
    clicks: Stored, tmp_path: Path, spark: SparkSession
) -> None:
    wanted = [one.fingerprint for one in ask(MET, {"clicks": clicks}, spark=spark)]
    begun = diamond(clicks, tmp_path / "per_n", chunk=1)
    assert [one.fingerprint for _, one in zip(range(2), begun, strict=False)] == wanted[:2]
    resumed = diamond(clicks, tmp_path / "per_n", chunk=2)
    assert [one.fingerprint for one in resumed] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "in turn"])
def test_sums_stay_until_the_last_of_many_stages_has_read_them(
    at_once: bool, spark: SparkSession, tmp_path: Path, nothing_lost: None
) -> None:
    frame = spark.range(1_000).selectExpr("id AS user", "id % 11 AS size")
    clicks = progress(frame, "user", points=10, folder=tmp_path / "t")
    kept_before = len(spark.sparkContext._jsc.getPersistentRDDs())
    whole = "SELECT size, count(*) AS n FROM clicks GROUP BY size"
    stage = sums = ask(whole, {"clicks": clicks}, chunk=1, at_once=at_once)
    assert sums.plan.slices, "it goes by what earlier chunks have left"
    for rest in (5, 3, 2):
        sql = f"SELECT size % {rest} AS size, sum(n) AS n FROM {{}} GROUP BY size % {rest}"
        stage = ask(sql.format("below"), {"below": stage}, chunk=1, at_once=at_once)
        assert not stage.forgets
        whole = sql.format(f"({whole})")
    most = "SELECT max(n) AS most, sum(n) AS n FROM {}"
    found = []
    for answer in ask(most.format("below"), {"below": stage}, chunk=1, at_once=at_once):
        found.append(answer.table.to_pylist())
        if answer.point == 1:  # two chunks wait at each of four stages: all ten are planned
            until(lambda: sums.plan.states.reach(Chunk(10, 10)))
    wanted = ask(most.format(f"({whole})"), {"clicks": clicks}, chunk=10, spark=spark)
    assert found == [one.table.to_pylist() for one in wanted]
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) == kept_before


def summed(key: dict[str, Any], tables: dict[str, pa.Table]) -> pa.Table:
    sizes = tables["clicks"]["size"].to_pylist()
    return pa.table({"n": [len(sizes)], "size": [sum(sizes)]})


def summed_along(key: dict[str, Any], batches: Iterator[Batch]) -> Iterator[pa.Table]:
    """By a function that sees progress: every batch adds to the one before."""
    told: list[list[int]] = []
    n = size = 0
    for batch in batches:
        sizes = batch.tables["clicks"]["size"].to_pylist()
        n, size = n + len(sizes), size + sum(sizes)
        if told:
            told[-1][3] = batch.point
        told.append([n, size, batch.point, 2**31 - 1])
    for row in told:
        yield pa.table([[value] for value in row], names=["n", "size", FROM, UNTIL])


@pytest.mark.parametrize("by", ["user", "row"])
@pytest.mark.parametrize(
    "reducer",
    [
        Reducer(summed, ("user",), "n bigint, size bigint"),
        Reducer(summed_along, ("user",), "n bigint, size bigint", sees_progress=True),
    ],
    ids=lambda one: one.name,
)
def test_a_reducer_answers_as_the_aggregate_that_it_computes(
    reducer: Reducer, by: str, clicks: Stored, spark: SparkSession, tmp_path: Path
) -> None:
    table = clicks
    if by == "row":
        frame = spark.table(clicks.view(spark, "clicks", POINTS)).select("user", "size")
        table = progress(frame, points=3, folder=tmp_path / "by_row")
    asked = ask(reducer, {"clicks": table}, chunk=2)
    assert asked.forgets == (by == "user")
    by_user = ask(PER_USER, {"clicks": table}, chunk=2)
    assert [one.table.to_pylist() for one in asked] == [one.table.to_pylist() for one in by_user]
    per_n = ask(PER_N, {"per_user": ask(reducer, {"clicks": table})})
    wanted = ask(PER_N, {"per_user": ask(PER_USER, {"clicks": table})})
    assert [one.fingerprint for one in per_n] == [one.fingerprint for one in wanted]


def test_a_reducer_is_given_its_inputs_as_they_hold(spark: SparkSession, tmp_path: Path) -> None:
    left = progress(
        spark.range(60).selectExpr("id % 4 AS k", "id AS a"), points=4, folder=tmp_path / "left"
    )
    leaving = Sampling("row", (), 4, stay=2)
    right = progress(
        spark.range(40).selectExpr("id % 4 AS k", "id AS b"), leaving, folder=tmp_path / "right"
    )

    def both(key: dict[str, Any], tables: dict[str, pa.Table]) -> pa.Table:
        return pa.table({"a": [tables["l"].num_rows], "b": [tables["r"].num_rows]})

    found = ask(Reducer(both, ("k",), "a bigint, b bigint"), {"l": left, "r": right}, chunk=3)
    sql = """
    SELECT k, sum(a) AS a, sum(b) AS b FROM (
      SELECT k, 1 AS a, 0 AS b FROM l UNION ALL SELECT k, 0 AS a, 1 AS b FROM r) GROUP BY k"""
    wanted = ask(sql, {"l": left, "r": right})
    assert [one.table.to_pylist() for one in found] == [one.table.to_pylist() for one in wanted]


def test_what_fails_in_a_stage_is_told_by_the_question_that_reads_it(clicks: Stored) -> None:
    def fails(key: dict[str, Any], tables: dict[str, pa.Table]) -> pa.Table:
        raise ValueError(f"no size for user {key['user']}")

    broken = ask(Reducer(fails, ("user",), "n bigint"), {"clicks": clicks})
    with pytest.raises(RunError, match="no size for user"):
        list(ask("SELECT sum(n) AS n FROM broken", {"broken": broken}))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda c: ask("SELECT 1 AS a FROM s", {"s": ask("SELECT user, user FROM t", {"t": c})}),
         "user twice; give its columns names with AS"),
        (lambda c: ask("SELECT 1 AS a FROM s", {"s": ask(PER_USER, {"clicks": c})}, points=2),
         "its stages answer at 5 points"),
        (lambda c: ask(Reducer(summed, ("who",), "n bigint"), {"clicks": c}),
         "goes by who, which clicks does not have; it has user, size"),
        (lambda c: ask(Reducer(summed, ("user",), "n biggish"), {"clicks": c}),
         "is said as 'name type, ...'"),
        (lambda c: next(iter(pipeline(c))).why(size=1), "per_n is a stage"),
    ],
    ids=["columns", "points", "key", "returns", "why"],
)  # fmt: skip
def test_mistakes_are_told(make: Any, said: str, clicks: Stored) -> None:
    with pytest.raises(QueryError, match=said):
        make(clicks)


KILLED = """
import os, signal, sys
from headway.engine.early.stages import line
from tests.engine.early.stages.test_stages import open_stored, pipeline
from pathlib import Path
before = line.held_on_disk
def held(chunk, frame, folder):
    if chunk.first == 3 and folder.name == "per_n":
        os.kill(os.getpid(), signal.SIGKILL)
    before(chunk, frame, folder)
line.held_on_disk = held
for answer in pipeline(open_stored(sys.argv[1]), Path(sys.argv[2]), chunk=1):
    print(answer.fingerprint, flush=True)
"""


@pytest.mark.slow
@pytest.mark.long
def test_killed_between_stages_it_goes_on_with_the_same_answers(
    clicks: Stored, wanted: list[str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(clicks.folder), str(tmp_path / "kept")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    told = done.stdout.split()
    assert 1 <= len(told) < POINTS
    assert told == wanted[: len(told)]
    resumed = pipeline(open_stored(clicks.folder), tmp_path / "kept", chunk=2)
    assert [one.fingerprint for one in resumed] == wanted
    kept = [spent.chunk.first for spent in resumed.spent if spent.measured_s == 0]
    assert kept[: len(told)] == list(range(len(told)))
    with pytest.raises(HeadwayError, match="another question"):
        ask(PER_USER, {"clicks": clicks}, folder=tmp_path / "kept" / "per_n")

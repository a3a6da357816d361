"""Queries that headway did not write, watched from within, through the UI, and by a checkpoint."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import headway as hw
from headway.cli.main import app
from headway.engine.spark.frames.left import read_checkpoint
from headway.engine.spark.frames.ui import read_ui
from headway.errors import RunError
from headway.measure.watched import WATCHED
from tests.waiting import until

pytestmark = pytest.mark.spark


def test_a_query_of_the_users_is_watched(spark: SparkSession, tmp_path: Path) -> None:
    rated = spark.readStream.format("rate").option("rowsPerSecond", 200).load()
    counted = rated.groupBy((rated.value % 7).alias("k")).count()
    writer = counted.writeStream.outputMode("update").format("noop").queryName("mine")
    query = writer.option("checkpointLocation", str(tmp_path / "cp")).start()
    try:
        with hw.watch(query) as watching:
            until(lambda: len(watching.seen().batches) >= 6)
        seen = watching.seen()
    finally:
        query.stop()
    assert seen.name == "mine"
    assert set(seen.phases_s) == set(WATCHED)
    for batch in seen.batches:
        assert sum(batch.phases_s.values()) == pytest.approx(batch.took_s, abs=0.002)
    assert seen.phases_s["offsets"] > 0
    assert seen.phases_s["map"] > 0  # the stages of its batches are known
    assert seen.phases_s["reduce"] > 0
    assert seen.settings["spark.sql.shuffle.partitions"] == "2"
    assert watching.advice()


def test_something_else_is_refused() -> None:
    with pytest.raises(RunError, match="takes a StreamingQuery"):
        hw.watch("a query")


@pytest.fixture(scope="module")
def theirs(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """A query of the user's own that is running: where its UI and its checkpoint are."""
    place = tmp_path_factory.mktemp("theirs") / "checkpoint"
    rated = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    counted = rated.groupBy((rated.value % 7).alias("k")).count()
    writer = counted.writeStream.outputMode("update").format("noop").queryName("sevens")
    writer = writer.option("checkpointLocation", str(place))
    query = writer.trigger(processingTime="200 milliseconds").start()
    try:
        until(lambda: len(list((place / "commits").glob("[0-9]*"))) >= 6)
        yield str(spark.sparkContext.uiWebUrl), place
    finally:
        query.stop()


def test_the_ui_of_another_application_tells_of_its_query(theirs: tuple[str, Path]) -> None:
    (seen,) = (seen for seen in read_ui(theirs[0]) if seen.name == "sevens")
    assert len(seen.batches) >= 4
    assert seen.cores == 6
    assert seen.phases_s["map"] > 0
    assert seen.phases_s["reduce"] > 0
    for batch in seen.batches:
        assert sum(batch.phases_s.values()) == pytest.approx(batch.took_s, abs=0.002)


def test_a_checkpoint_tells_how_long_its_batches_took(theirs: tuple[str, Path]) -> None:
    seen = read_checkpoint(theirs[1])
    assert len(seen.batches) >= 4
    assert 0 < seen.took_s < 60
    assert seen.share("unexplained") == 1.0
    assert "nothing in between" in seen.missing[0]


def test_a_batch_begins_when_it_says_so_whenever_its_offsets_were_written(tmp_path: Path) -> None:
    place = tmp_path / "run" / "checkpoint" / "counts"
    for name, text in (("offsets", 'v1\n{"batchTimestampMs": 5000}\n{}'), ("commits", "v1\n{}")):
        (place / name).mkdir(parents=True)
        (place / name / "0").write_text(text)
        os.utime(place / name / "0", (12, 12))
    (batch,) = read_checkpoint(place).batches
    assert batch.took_s == 7
    with pytest.raises(RunError, match=re.escape(f"Give {place}")):
        read_checkpoint(tmp_path / "run")


def test_the_command_says_it_all(theirs: tuple[str, Path]) -> None:
    for target in (theirs[0], str(theirs[1])):
        found = CliRunner().invoke(app, ["watch", target, "--json"])
        assert found.exit_code == 0
        assert all(told["advice"] for told in json.loads(found.stdout))
    shown = CliRunner().invoke(app, ["watch", theirs[0]]).stdout
    assert "sevens:" in shown
    assert "a batch takes" in shown


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("http://127.0.0.1:9", "no Spark UI answers at"),
        ("nowhere", "there is no folder 'nowhere'"),
        (".", "is no checkpoint of a streaming query"),
    ],
)
def test_what_is_not_there_is_named(target: str, said: str) -> None:
    found: Any = CliRunner().invoke(app, ["watch", target])
    assert said in str(found.exception)

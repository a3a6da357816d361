"""A disk that is full, or a checkpoint that is gone or another's: a clear error, and no harm."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.errors import CheckpointError, HeadwayError, RunError, TopicError
from headway.workloads.makers.keyed import Keyed
from tests.crash.runs import assert_exact, run_to_end, start

pytestmark = [pytest.mark.spark, pytest.mark.slow]


class SmallDisk:
    """A file system of its own that can be made larger."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def mount(self, size: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "headway-test", str(self.path)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("mounting a small tmpfs is not permitted here")

    def grow(self, size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.path)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a small disk is a tmpfs mount, and mounting needs root")
    path = tmp_path / "disk"
    path.mkdir()
    yield SmallDisk(path)
    subprocess.run(["umount", "--lazy", str(path)], check=False, capture_output=True)


def counts(place: Path) -> hw.Flow:
    """Running counts of 400 records."""
    records = hw.replay(Keyed(keys=30), count=400)
    return records.key("key").reduce(n="count(*)").to(f"spool:{place}/out")


def assert_fails_then_completes(
    spark: SparkSession, flow: hw.Flow, folder: Path, disk: SmallDisk, error: type[HeadwayError]
) -> None:
    with pytest.raises(error, match="space") as caught:
        start(spark, flow, folder).wait(240)
    assert "gain" in str(caught.value), "the error does not say what to do next"
    disk.grow("64m")
    assert_exact(flow, run_to_end(spark, flow, folder))


def test_a_full_disk_under_the_answers_loses_nothing(
    spark: SparkSession, tmp_path: Path, disk: SmallDisk
) -> None:
    disk.mount("24k")
    assert_fails_then_completes(spark, counts(disk.path), tmp_path / "run", disk, TopicError)


@pytest.mark.long
def test_a_full_disk_under_the_checkpoint_loses_nothing(
    spark: SparkSession, tmp_path: Path, disk: SmallDisk
) -> None:
    disk.mount("160k")
    assert_fails_then_completes(spark, counts(tmp_path), disk.path / "run", disk, RunError)


def test_a_deleted_checkpoint_is_refused_since_answers_are_out(
    spark: SparkSession, tmp_path: Path
) -> None:
    flow = counts(tmp_path)
    run_to_end(spark, flow, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoint")
    with pytest.raises(CheckpointError, match="twice"):
        start(spark, flow, tmp_path / "run")

    other = hw.replay(Keyed(keys=31), count=400).key("key").reduce(n="count(*)")
    with pytest.raises(CheckpointError, match="belongs to another flow"):
        start(spark, other.to(f"spool:{tmp_path}/out"), tmp_path / "run")

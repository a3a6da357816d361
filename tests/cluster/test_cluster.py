"""The same flow on a real cluster: the same answers, also when an executor or a worker dies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.testing.cluster import SPARK_SETTINGS, Cluster
from headway.testing.compare import compare
from headway.testing.crashes import Child, completed, snapshot_of
from headway.testing.job import Ending, Job
from headway.testing.replayed import published, reference_outcome
from headway.workloads.keys import KeyCounts
from headway.workloads.makers.keyed import Keyed

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

RECORDS = 675


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(workers=2) as found:
        yield found


def both(place: Path) -> hw.Flow:
    """Native windows and a Python pair over the same records."""
    records = hw.replay(Keyed(keys=20), rate=600, count=RECORDS)
    windows = records.key("key").window("500ms").reduce(n="count(*)").to(f"parquet:{place}/windows")
    return windows + records.pair(KeyCounts()).to(f"spool:{place}/pair")


def job_on(master: str, place: Path) -> Job:
    pace = hw.Pace(interval_s=0.05, max_rows=100)
    extra = SPARK_SETTINGS if master.startswith("spark:") else {}
    return Job(both(place), place / "run", hw.Settings(master, pace, buckets=4, spark=extra))


def counted(job: Job) -> Counter[tuple[str, int]]:
    """What the pair told of each record, which no cut into batches changes."""
    return Counter(
        (answer.row["key"], answer.row["n"]) for answer in published(job.flow, job.folder, "pair")
    )


def assert_exact(job: Job, ending: Ending) -> None:
    assert ending.how == "done", ending.text
    for sink in ("windows", "pair"):
        wanted = reference_outcome(job.flow, job.folder, sink).answers
        assert wanted
        found = compare(wanted, published(job.flow, job.folder, sink))
        assert not found, f"{sink}: {found}"
    assert ending.account.answered == 2 * RECORDS
    assert ending.account.balanced, str(ending.account)


def test_a_cluster_that_loses_an_executor_and_a_worker_answers_as_one_process_does(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    here, there = (job_on(master, tmp_path / master[:5]) for master in ("local[2]", cluster.url))
    for job in (here, there):
        job.folder.parent.mkdir()
    assert_exact(here, completed(here, spark))
    slower = hw.Pace(interval_s=0.2, max_rows=75)
    there = replace(there, settings=replace(there.settings, pace=slower))
    with Child(there) as child:
        child.wait_batches(2)
        while not snapshot_of(there).interrupted:
            assert child.active, child.tail()
        assert cluster.kill_executor() is not None
        child.wait_batches(len(child.batches) + 3)
        cluster.workers[0].kill()
        assert child.active, "the run ended before the worker was killed"
        assert_exact(there, child.wait())
    assert counted(here) == counted(there)

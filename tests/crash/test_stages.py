"""A run killed with -9 at each stage of a batch goes on where it was: exactly once, as decided."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from pyspark.sql import SparkSession

from headway.measure.batches import BatchLine, BatchLog
from headway.testing.compare import compare
from headway.testing.crashes import Child, Survived, snapshot_of, survive
from headway.testing.job import Job
from headway.testing.offset_log import changed_decisions
from headway.testing.processes import Process, family
from headway.testing.replayed import published, reference_outcome
from tests.crash import flows

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@dataclass(frozen=True)
class Story:
    """A job, how it was killed, and what it left behind."""

    job: Job
    survived: Survived
    jvm_groups: tuple[int, ...] = ()
    driver_group: int = 0
    orphans: tuple[Process, ...] = ()

    @property
    def lines(self) -> list[BatchLine]:
        return list(BatchLog(self.job.folder / "batches.jsonl").lines())


@pytest.fixture(scope="module")
def native(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Native windows, killed at one stage after the other."""
    place = tmp_path_factory.mktemp("native")
    job = flows.job(flows.windowed(place), place)
    # Just before and after each thing that must not be done twice; Kafka's tests have the others,
    # and the benchmark kills at random instants.
    deaths = ("published:2", "committed:2")
    return Story(job, survive(job, deaths, spark))


@pytest.fixture(scope="module")
def pair(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """A Python pair, killed from outside in mid-run."""
    place = tmp_path_factory.mktemp("pair")
    job = flows.job(flows.paired(place), place)
    with Child(job) as child:
        child.wait_batches(2)
        groups = tuple(child.jvms())
        while not (taken := snapshot_of(job)).interrupted:
            assert child.active, child.tail()
        child.kill()
        orphans = tuple(family(child.session))
    survived = replace(survive(job, (), spark), snapshots=(taken,))
    return Story(job, survived, groups, child.session, orphans)


@pytest.fixture(params=["native", pytest.param("pair", marks=pytest.mark.long)])
def story(request: pytest.FixtureRequest) -> Story:
    found: Story = request.getfixturevalue(request.param)
    return found


def test_every_answer_is_there_once_and_in_its_batch(story: Story) -> None:
    flow, folder = story.job.flow, story.job.folder
    wanted = reference_outcome(flow, folder).answers
    assert wanted
    assert not (found := compare(wanted, published(flow, folder))), str(found)


def test_what_was_decided_before_a_kill_is_what_was_done_after_it(story: Story) -> None:
    final = snapshot_of(story.job)
    assert changed_decisions(story.survived.snapshots, final, story.lines) == []
    assert any(taken.interrupted for taken in story.survived.snapshots)


def test_the_log_has_each_batch_once_and_in_order(story: Story) -> None:
    batches = [line.batch for line in story.lines]
    assert batches == sorted(snapshot_of(story.job).committed)


def test_the_account_balances_after_restarts_and_at_every_line(story: Story) -> None:
    account = story.survived.ending.account
    assert account.balanced, str(account)
    assert account.waiting == 0
    assert account.answered == sum(line.rows for line in story.lines)


def test_a_batch_that_was_completed_but_not_logged_is_recovered(native: Story) -> None:
    because = [line.because for line in native.lines]
    assert "recovered after a crash" in because


@pytest.mark.long
def test_a_kill_takes_the_jvm_and_every_worker_with_it(pair: Story) -> None:
    assert pair.jvm_groups == (pair.driver_group,)
    assert pair.orphans == ()

"""Handing over between threads: in order, bounded, and nobody waits for one who failed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest
from pyspark.sql import DataFrame, SparkSession

from headway.early.chunks import Chunk
from headway.engine.early.stages.handed import Handed, Stopped
from headway.errors import RunError
from tests.waiting import until


@dataclass
class Rows:
    """A part that notes when it is dropped."""

    chunk: Chunk
    dropped: list[int] = field(default_factory=list)

    def read(self, spark: SparkSession) -> DataFrame:
        raise NotImplementedError

    def compute(self) -> None:
        raise NotImplementedError

    def drop(self) -> None:
        self.dropped.append(self.chunk.first)


def part(n: int, dropped: list[int] | None = None) -> Rows:
    return Rows(Chunk(n, n), [] if dropped is None else dropped)


def test_a_stage_that_is_ahead_waits_for_those_that_read_it() -> None:
    handed, put = Handed(readers=(0, 0), keeps=False, bound=2), []

    def hand_over() -> None:
        for n in range(4):
            handed.wait_for_room()
            handed.put(n, part(n))
            put.append(n)

    thread = threading.Thread(target=hand_over)
    thread.start()
    until(lambda: put == [0, 1])
    for n in range(4):
        assert [one.chunk.first for one in handed.take(n)] == [n]
        handed.done(n)
        assert n + 2 not in put[n + 2 :], "one of two readers is not enough"
        handed.done(n)
        until(lambda n=n: len(put) == min(4, n + 3))  # type: ignore[misc]
    thread.join()
    assert handed.most_waiting == 2


def test_what_all_have_read_is_dropped_and_what_is_handed_over_once_is_kept() -> None:
    for keeps, wanted in ((False, [[0], [1]]), (True, [[0], [0, 1]])):
        dropped: list[int] = []
        handed = Handed(readers=(0,), keeps=keeps)
        for n in range(2):
            handed.put(n, part(n, dropped))
            assert [one.chunk.first for one in handed.take(n)] == wanted[n]
            handed.done(n)
            handed.let_go(n)
        assert dropped == ([] if keeps else [0, 1])
        handed.clear()
        assert dropped == [0, 1]


def test_what_is_planned_makes_room_and_stays_until_it_is_computed() -> None:
    dropped: list[int] = []
    handed = Handed(readers=(0, 0), keeps=False, bound=1)
    for n in range(3):
        handed.wait_for_room()
        handed.put(n, part(n, dropped))
        handed.done(n)
        handed.done(n)
    handed.let_go(0)
    assert dropped == [], "one of two readers may still compute it"
    handed.let_go(0)
    assert dropped == [0]
    handed.clear()
    handed.let_go(1)
    assert dropped == [0, 1, 2], "what was cleared is not dropped again"


def test_a_reader_that_goes_on_later_is_not_waited_for_before() -> None:
    handed = Handed(readers=(2,), keeps=True, bound=1)
    for n in range(3):
        handed.wait_for_room()
        handed.put(n, part(n))
    assert [one.chunk.first for one in handed.take(2)] == [0, 1, 2]


def test_who_waits_is_told_of_a_failure_and_of_the_end() -> None:
    handed, told = Handed(readers=(0,), keeps=False), []

    def take() -> None:
        try:
            handed.take(0)
        except ValueError as error:
            told.append(str(error))

    thread = threading.Thread(target=take)
    thread.start()
    handed.fail(ValueError("no disk"))
    thread.join()
    assert told == ["no disk"]
    handed.stop()
    with pytest.raises(Stopped):
        handed.take(0)


def test_what_was_handed_over_is_taken_though_what_comes_next_has_failed() -> None:
    handed = Handed(readers=(0,), keeps=False)
    handed.put(0, part(0))
    handed.fail(RunError("point 1 is lost"))
    assert [one.chunk.first for one in handed.take(0)] == [0]
    with pytest.raises(RunError, match="point 1"):
        handed.take(1)

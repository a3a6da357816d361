"""States of a bucket: in order, from the store when in doubt, and untouched by what failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from headway.engine.pairs.failures import PairFailed, find_pair_error
from headway.engine.topics.quarantine import count_by_reason
from headway.flow.pairs import Emitted, Pair, WindowPair
from headway.flow.windows import Window

from .driver import Machine, marker, step_of, task


class Seen(Pair):
    """Remembers the values of a key in the order in which they came, and tells them all."""

    emits: ClassVar[str] = "seen string"

    def init(self, key: str) -> list[int]:
        return []

    def update(
        self, time: float, key: str, value: dict[str, Any], state: list[int]
    ) -> tuple[list[int], Emitted]:
        state.append(value["value"])
        if value["value"] < 0:
            raise ValueError("negative")
        return state, [(time, key, " ".join(map(str, state)))]


class SeenMapped(Seen):
    """The same, behind a map that doubles each record."""

    def map(self, time: float, key: str, value: dict[str, Any]) -> Emitted:
        if value["value"] == 666:
            raise ValueError("evil")
        yield time, key, value
        yield time, key, {"value": value["value"] + 100}


class InOneGo(Pair):
    """Counts a whole batch at once."""

    emits: ClassVar[str] = "n bigint"

    def update_batch(
        self, times: list[float], keys: list[str], values: list[Any], states: dict[str, int]
    ) -> Emitted:
        for key in keys:
            states[key] = states.get(key, 0) + 1
        last = dict(zip(keys, times, strict=True))
        return [(time, key, states[key]) for key, time in last.items()]


class Sum(WindowPair):
    """The sum of a window."""

    emits: ClassVar[str] = "total bigint"

    def init(self, key: str, wtime: float) -> list[int]:
        return [0]

    def update(self, time: float, key: str, wtime: float, value: Any, state: list[int]) -> Any:
        state[0] += value["value"]
        if value["value"] < 0:
            raise ValueError("negative")
        return state

    def finalize(self, key: str, wtime: float, state: list[int]) -> Emitted:
        yield wtime, key, state[0]


def last_seen(answers: list[dict[str, Any]], key: str) -> str:
    told: list[str] = [row["seen"] for row in answers if row["key"] == key]
    return max(told, key=len)


def test_records_are_updated_by_arrival_then_place_whatever_task_read_them(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen()), tmp_path)
    late_task = task((20, 5, "a", 4), (20, 3, "a", 3))
    early_task = task((10, 9, "a", 1), (15, 1, "a", 2))
    assert last_seen(machine.batch([late_task], [early_task]), "a") == "1 2 3 4"


def test_what_a_map_makes_keeps_the_order_of_the_records_it_is_made_from(tmp_path: Path) -> None:
    machine = Machine(step_of(SeenMapped()), tmp_path)
    answers = machine.batch([task((20, 1, "a", 2))], [task((10, 0, "a", 1))])
    assert last_seen(answers, "a") == "1 101 2 102"


def test_a_task_of_several_arrow_batches_is_one_parcel_per_bucket(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen()), tmp_path)
    pieces = [task((10, 0, "a", 1)), task((10, 1, "a", 2))]
    assert {len(rows) for rows in machine.parcels([pieces]).values()} == {1}
    assert last_seen(machine.batch(pieces), "a") == "1 2"


def test_states_live_on_from_batch_to_batch(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen()), tmp_path)
    machine.batch([task((10, 0, "a", 1), (10, 1, "b", 9))])
    assert last_seen(machine.batch([task((11, 2, "a", 2))]), "a") == "1 2"


def test_states_of_another_version_than_the_store_names_are_loaded_again(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen()), tmp_path)
    machine.batch([task((10, 0, "a", 1))])
    stored = dict(machine.store)
    machine.batch([task((11, 1, "a", 2))])
    machine.store = stored  # that batch was never committed: Spark goes back to the version before
    assert last_seen(machine.batch([task((11, 1, "a", 2))]), "a") == "1 2"


def test_a_bucket_that_the_store_does_not_know_starts_afresh(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen()), tmp_path)
    machine.batch([task((10, 0, "a", 1))])
    machine.store = {}
    assert last_seen(machine.batch([task((10, 0, "a", 1))]), "a") == "1"


def test_a_worker_that_never_saw_a_bucket_reads_it_from_the_store(tmp_path: Path) -> None:
    first = Machine(step_of(Seen()), tmp_path)
    first.batch([task((10, 0, "a", 1))])
    second = Machine(step_of(Seen()), tmp_path, first.store)
    assert last_seen(second.batch([task((11, 1, "a", 2))]), "a") == "1 2"


def test_a_failed_batch_leaves_no_trace_in_the_states(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen()), tmp_path)
    machine.batch([task((10, 0, "a", 1))])
    with pytest.raises(PairFailed):
        machine.batch([task((11, 1, "a", 2), (11, 2, "a", -1))])
    assert last_seen(machine.batch([task((11, 1, "a", 2))]), "a") == "1 2"


def test_a_failure_names_the_record_that_caused_it(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen()), tmp_path)
    with pytest.raises(PairFailed) as caught:
        machine.batch([task((10, 0, "a", 1), (11, 1, "a", -7), (12, 2, "a", 3))])
    told = find_pair_error(str(caught.value))
    assert told is not None
    assert "-7" in str(told)


def test_a_failing_update_is_set_aside_and_its_state_stays_as_it_was(tmp_path: Path) -> None:
    machine = Machine(step_of(Seen(), on_error="quarantine"), tmp_path)
    answers = machine.batch([task((10, 0, "a", 1), (11, 1, "a", -1), (12, 2, "a", 3))])
    assert last_seen(answers, "a") == "1 3"
    assert count_by_reason(tmp_path) == {"failed": 1}


def test_a_failing_map_is_set_aside(tmp_path: Path) -> None:
    machine = Machine(step_of(SeenMapped(), on_error="quarantine"), tmp_path)
    answers = machine.batch([task((10, 0, "a", 666), (11, 1, "a", 3))])
    assert last_seen(answers, "a") == "3 103"
    assert count_by_reason(tmp_path) == {"failed": 1}


def test_a_pair_may_update_a_whole_batch_at_once(tmp_path: Path) -> None:
    machine = Machine(step_of(InOneGo()), tmp_path)
    machine.batch([task((10, 0, "a", 1), (10, 1, "a", 1), (10, 2, "b", 1))])
    answers = machine.batch([task((11, 3, "a", 1))])
    assert [(row["key"], row["n"]) for row in answers] == [("a", 3)]


def test_a_window_is_told_once_when_the_marker_has_passed_its_end(tmp_path: Path) -> None:
    machine = Machine(step_of(Sum(), window=Window(10, 10)), tmp_path)
    assert machine.batch([marker(0), task((5, 0, "a", 1), (10, 1, "a", 2), (11, 2, "a", 4))]) == []
    told = machine.batch([marker(10)])
    assert [(row["key"], row["total"]) for row in told] == [("a", 3)]
    told = machine.batch([marker(20), task((15, 3, "a", 100))])
    assert [(row["key"], row["total"]) for row in told] == [("a", 4)]


def test_a_record_that_fails_in_one_of_its_windows_stays_out_of_all(tmp_path: Path) -> None:
    window = Window(20, 10)
    machine = Machine(step_of(Sum(), window=window, on_error="quarantine"), tmp_path)
    machine.batch([marker(0), task((15, 0, "a", 1), (16, 1, "a", -5))])
    told = machine.batch([marker(100)])
    assert [row["total"] for row in told] == [1, 1]
    assert count_by_reason(tmp_path) == {"failed": 1}

"""What benchmarks make of what a consumer outside has seen."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread, get_native_id
from time import process_time

import numpy as np
import pytest

from headway.benches.outside.carried import Look
from headway.benches.outside.outsider import Watched
from headway.benches.outside.turns import Turn, parts_of
from headway.benches.phases import Overhead, told_costs
from headway.benches.realtime import quantiles, settled_s
from headway.benches.switch import silences_s
from headway.benches.tradeoff import Stairs, steps_of
from headway.testing.outside import Seen, numbered
from headway.testing.processes import cpu_of_threads_s, cpu_s


def watched(due_s: list[float], late_s: list[float], at_us: list[int] | None = None) -> Watched:
    times = np.array(at_us or [0], dtype=np.int64)
    seen = Seen(np.array(["k"] * len(times), dtype=object), np.arange(len(times)), times)
    return Watched(np.array(due_s), np.array(late_s), seen, 0)


def test_records_of_the_warm_up_do_not_count() -> None:
    seen = (np.array([0, 1, 2, 3, 4.0]), np.array([9.0, 9.0, 0.002, 0.004, 9.0]))
    (part,) = parts_of(seen, [Turn(0, 0.0, 2.0), Turn(0, 2.0, 5.0, (2.0, 4.0))])
    found = quantiles(part)
    assert found["max_ms"] == 4.0
    assert found["unanswered"] == 0
    found = quantiles(np.array([np.nan, np.nan]))
    assert found["unanswered"] == 2
    assert found["p99_ms"] == float("inf")


def test_a_start_is_over_with_the_first_second_in_time() -> None:
    slow_then_quick = watched([0.1, 0.9, 1.5, 2.5], [3.0, 2.0, 0.5, 0.01])
    assert settled_s(slow_then_quick) == 2.0
    assert settled_s(watched([0.5], [np.nan])) == float("inf")


def test_the_longest_silence_after_a_change_is_its_gap() -> None:
    answers = [0, 100_000, 1_600_000, 1_700_000, 9_000_000, 9_100_000]
    assert silences_s(watched([], [], answers), [50_000, 8_000_000]) == [1.5, pytest.approx(0.1)]


def test_stairs_end_with_the_step_that_is_too_much() -> None:
    stairs = Stairs((10.0, 20.0, 40.0), step_s=2.0, warm_s=1.0)
    assert stairs.seconds == 8.0
    assert [stairs.part(place) for place in range(3)] == [(3.0, 4.0), (5.0, 6.0), (7.0, 8.0)]
    rows = steps_of(watched([3.5, 5.5, 7.5], [0.1, 6.0, 9.0]), stairs)
    assert [(row["rate"], row["p50_s"]) for row in rows] == [(10.0, 0.1), (20.0, 6.0)]
    rows = steps_of(watched([3.5, 5.5, 7.5], [0.1, np.nan, 0.1]), stairs)
    assert [row["rate"] for row in rows] == [10.0]


def test_answers_that_are_no_counts_are_numbered_by_key() -> None:
    keys = np.array(["a", "b", "a"], dtype=object)
    found = numbered(Seen(keys, np.array([7, 7, 7]), np.array([1, 2, 3])))
    assert found.counts.tolist() == [1, 1, 2]


def test_the_cpu_of_a_process_only_grows() -> None:
    before = cpu_s(os.getpid())
    sum(number * number for number in range(2_000_000))
    assert cpu_s(os.getpid()) > before


def test_the_processor_time_of_threads_with_a_word_in_their_name() -> None:
    found: dict[int, float] = {}

    def work() -> None:
        # Linux shows what a thread calls itself, not what Python calls it.
        Path(f"/proc/self/task/{get_native_id()}/comm").write_text("a busy bee")
        until_s = process_time() + 0.05
        while process_time() < until_s:
            sum(range(10_000))
        found.update(cpu_of_threads_s(os.getpid(), "busy"))

    worker = Thread(target=work)
    worker.start()
    worker.join(30)
    assert len(found) == 1
    assert 0.02 < min(found.values()) < 1.0
    assert cpu_of_threads_s(os.getpid(), "busy") == {}


def test_what_one_look_takes_and_the_next_gives_back_is_no_cost() -> None:
    cost = Overhead(
        [Look(1.0, 80.0, 40.0), Look(1.0, 120.0, 60.0)],
        [Look(1.0, 120.0, 60.0), Look(1.0, 80.0, 40.0)],
    )
    assert cost.lost == [0.3333, -0.5]
    assert (cost.lost_in_all, cost.added_in_all) == (0.0, 0.0)


def test_a_cost_of_every_look_is_one_in_all() -> None:
    cost = Overhead(
        [Look(1.0, 90.0, 54.0), Look(1.0, 180.0, 108.0)],
        [Look(1.0, 100.0, 50.0), Look(1.0, 200.0, 100.0)],
    )
    assert told_costs({"real-time": cost}) == {
        "overhead": 0.1,
        "overhead_by_mode": {"real-time": 0.1},
        "overhead_error": {"real-time": 0.0},
        "overhead_spread": {"real-time": [0.1, 0.1]},
        "overhead_processor_by_mode": {"real-time": 0.2},
        "overhead_processor_spread": {"real-time": [0.2, 0.2]},
    }

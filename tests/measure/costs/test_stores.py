"""What states cost is learned for each store, and what it does not touch for all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.measure.batches import BatchLine
from headway.measure.costs.batches import held_anew, tasks_s
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile, load_profile, profile_of
from headway.measure.costs.stores import Store
from headway.testing.logs import START_S, made_line
from tests.model.profiles import stored

LANES = Lanes(cores=2, reducers=2)
SIZES = [100, 1_000, 10_000] * 6


def lines(sizes: list[int], store: Store | None, reduce_s: float) -> list[BatchLine]:
    """Batches that map for 0.1 s, reduce for so long, and have states that are no more than 50."""
    found, answered = [], 0
    for batch, rows in enumerate(sizes):
        answered += rows
        line = made_line(
            np.full(rows, 0.5), START_S + batch, batch=batch,
            phases={"map": {"mean": 0.1}, "reduce": {"mean": reduce_s}},
            work={"keys": 50.0, "memory_bytes": 10_000.0, "heap_bytes": 1e9, "task_s": reduce_s},
        )  # fmt: skip
        found.append(replace(line, store=store, account={"answered": answered}))
    return found


def profile(made: list[BatchLine]) -> JobProfile:
    return profile_of(made, "f", "micro-batch", LANES)


def both() -> list[BatchLine]:
    pairs = zip(lines(SIZES, "rocksdb", 0.3), lines(SIZES, "memory", 0.1), strict=True)
    return [line for pair in pairs for line in pair]


def test_each_store_has_a_cost_of_its_own() -> None:
    learned = profile(both())
    assert learned.batch.kept_s.known == ("rocksdb", "memory")
    assert learned.batch_s(1_000, store="rocksdb") == pytest.approx(0.4, rel=0.01)
    assert learned.batch_s(1_000, store="memory") == pytest.approx(0.2, rel=0.01)
    assert tasks_s(learned.batch, 1_000, "rocksdb") == pytest.approx(0.3, rel=0.01)
    assert tasks_s(learned.batch, 1_000, "memory") == pytest.approx(0.1, rel=0.01)
    assert learned.batch.line("map", 2, "memory") == learned.batch.line("map", 2, "rocksdb")


def test_records_that_come_again_do_not_tell_how_states_grow() -> None:
    sizes = [1_000] * 64
    made = [
        replace(line, work=line.work | {"memory_bytes": 100.0 * min(1_000 * (n + 1), 8_000)})
        for n, line in enumerate(lines(sizes, "memory", 0.1))
    ]
    fooled = held_anew(stored().batch.kept_s, made, float("inf")).held_bytes
    right = held_anew(stored().batch.kept_s, made, 8_000).held_bytes
    assert fooled.at(8e6) < 2e6
    assert right.at(8e6) > 4e8  # a hundred bytes for each record


def test_states_of_windows_that_close_are_followed_over_the_records_that_are_open() -> None:
    """2 s of states at a thousand records a second are those of 2,000, however many came before."""
    windowed = [
        replace(
            line,
            latency=line.latency | {"min": 0.5, "max": 0.5 + line.rows / 1_000},
            work=line.work | {"lives_s": 2.0},
        )
        for line in lines([50, 1_000, 50, 1_000, 3_000] * 4, "memory", 0.1)
    ]
    learned = profile(windowed).batch.kept_s
    assert learned.living == pytest.approx(2_000.0)
    assert learned.held_bytes.largest == pytest.approx(2_000.0, rel=0.1)
    stays = held_anew(learned, lines(SIZES, "memory", 0.1), float("inf"))
    assert stays.living == 0.0
    assert stays.held_bytes.largest > 5_000.0


def test_a_store_that_was_not_seen_is_taken_to_cost_what_others_do() -> None:
    learned = profile(lines(SIZES, "rocksdb", 0.3))
    assert learned.batch.kept_s.known == ("rocksdb",)
    assert learned.batch_s(1_000, store="memory") == learned.batch_s(1_000)
    assert not profile(lines(SIZES, None, 0.3)).batch.kept_s.known


def test_costs_by_store_survive_a_file(tmp_path: Path) -> None:
    learned = profile(both())
    assert load_profile(learned.save(tmp_path / "p.json")) == learned


def test_a_run_in_one_store_leaves_what_a_trial_knows_of_the_other() -> None:
    trial, ran = profile(both()), profile(lines(SIZES, "rocksdb", 0.6))
    filled = ran.filled_by(trial)
    assert filled.batch.kept_s.known == ("rocksdb", "memory")
    assert filled.batch_s(1_000, store="rocksdb") == pytest.approx(0.7, rel=0.01)
    assert filled.batch_s(1_000, store="memory") == pytest.approx(0.2, rel=0.01)
    assert filled.batch.kept_s.held_bytes == trial.batch.kept_s.held_bytes
    brought_up = trial.together(ran, keep=0.5).batch
    assert brought_up.kept_s.fits["memory"] == trial.batch.kept_s.fits["memory"]


def test_states_in_memory_are_followed_over_the_records_since_the_run_began() -> None:
    learned = profile(both()).batch.kept_s
    assert learned.heap_bytes == 1e9
    assert learned.held_bytes.largest == pytest.approx(sum(SIZES), rel=0.5)
    assert learned.held_bytes.at(1e12) == pytest.approx(10_000.0, rel=0.01)
    assert not profile(lines(SIZES, "rocksdb", 0.3)).batch.kept_s.held_bytes.steps
    assert stored(per_doubling=2.0).batch.kept_s.held_bytes.at(2.0**21) == pytest.approx(16e6)

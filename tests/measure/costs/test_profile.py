"""A profile is what the log of a run teaches, survives a file, and is brought up to date."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.errors import RunError
from headway.measure.batches import BatchLine
from headway.measure.costs.batches import BatchCosts
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile, load_profile, profile_of
from headway.measure.costs.stretches import StreamCosts
from headway.measure.latency import Latency
from headway.measure.moments import SERVICE, Moments
from headway.testing.logs import START_S, made_line, made_phases
from tests.model.profiles import profile as known

LANES = Lanes(cores=2, reducers=2)


def profile(made: list[BatchLine]) -> JobProfile:
    return profile_of(made, "f", "micro-batch", LANES)


def lines(sizes: list[int], fixed_s: float = 0.2, each_s: float = 1e-5) -> list[BatchLine]:
    """Batches that cost so much, with keys that grow as the square root of their records."""
    found = []
    for batch, rows in enumerate(sizes):
        took_s = fixed_s + each_s * rows
        line = made_line(
            np.full(rows, took_s + 0.3),
            START_S + batch,
            batch=batch,
            phases=made_phases(Latency.of(np.full(rows, 0.3)), 0.3, took_s),
            work={
                "keys": 10 * rows**0.5,
                "states": 1_000,
                "memory_bytes": 64_000,
                "task_s": took_s,
            },
        )
        found.append(replace(line, answers=rows // 2))
    return found


def test_a_profile_foretells_a_batch_of_another_size() -> None:
    learned = profile(lines([10, 100, 1_000, 10_000, 10, 1_000]))
    assert learned.batch_s(5_000) == pytest.approx(0.25, rel=0.01)
    assert learned.batch.keys.at(2_500) == pytest.approx(500, rel=0.02)
    assert learned.batch.answers.at(1_000) == pytest.approx(500, rel=0.01)
    assert learned.batch.task_s.at(5_000) == pytest.approx(0.25, rel=0.01)
    assert learned.batch.batches == 6
    assert "wait" not in learned.batch.phases_s  # how long a record waits is no cost
    assert "queue" not in learned.batch.phases_s


def test_a_batch_without_records_teaches_nothing() -> None:
    empty = replace(made_line(np.empty(0), START_S), phases={})
    assert profile([empty]).empty


def test_a_profile_survives_a_file(tmp_path: Path) -> None:
    learned = profile(lines([10, 1_000]))
    assert load_profile(learned.save(tmp_path / "deep" / "p.json")) == learned


def test_a_newer_profile_outweighs_an_older_one() -> None:
    old = profile(lines([10, 1_000] * 5, fixed_s=0.2))
    new = profile(lines([10, 1_000] * 5, fixed_s=0.6))
    both = old.together(new, keep=0.25)
    assert 0.5 < both.batch_s(10) < 0.6
    assert both.batch.records == old.batch.records + new.batch.records


def test_a_batch_that_lies_far_out_moves_the_spread_and_not_the_line() -> None:
    made = lines([10, 1_000, 10_000] * 8)
    stalled = replace(made[-1], phases=made_phases(Latency.of(np.full(9, 0.3)), 0.3, 5.0))
    learned = profile([*made, stalled])
    assert learned.batch_s(1_000) == pytest.approx(profile(made).batch_s(1_000), rel=0.01)
    assert max(learned.batch.ratios) > 10


def test_the_time_between_batches_is_learned_where_nothing_waits_for_the_clock() -> None:
    made = [
        replace(
            line, interval_s=0.0, published_s=START_S + n * 0.5,
            moments={SERVICE: Moments.of([0.4]).as_dict()},
        )
        for n, line in enumerate(lines([100] * 10))
    ]  # fmt: skip
    assert profile(made).batch.after_s.at(100) == pytest.approx(0.1, rel=0.01)
    waiting = [replace(line, interval_s=0.5) for line in made]
    assert profile(waiting).batch.after_s.points == 0


def test_more_readers_share_what_records_cost() -> None:
    learned = profile([replace(line, readers=1) for line in lines([10, 1_000, 10_000] * 4)])
    alone_s, shared_s = learned.batch_s(100_000, readers=1), learned.batch_s(100_000, readers=2)
    assert shared_s < 0.8 * alone_s
    assert learned.batch_s(100_000, readers=9) == pytest.approx(shared_s)  # there are two cores


def test_a_profile_of_other_lanes_is_another_one() -> None:
    here = profile(lines([10, 1_000]))
    there = profile_of(lines([10, 1_000]), "f", "micro-batch", Lanes(8, 8))
    assert here.together(there) == there


@pytest.mark.parametrize("text", ["", "[1", '{"version": 9}', '{"version": 1}'])
def test_what_is_no_profile_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(RunError, match="is no profile"):
        load_profile(path)
    with pytest.raises(RunError, match="make one with `headway profile`"):
        load_profile(tmp_path / "none.json")


def test_a_stop_and_a_wait_for_records_are_not_the_time_that_spark_needs() -> None:
    made = [
        replace(
            line, interval_s=0.0, published_s=START_S + n * 0.5,
            moments={SERVICE: Moments.of([0.4]).as_dict()},
            latency={**line.latency, "max": 0.9 if n < 6 else 0.3},
        )
        for n, line in enumerate(lines([100] * 10))
    ]  # fmt: skip
    learned = profile(made).batch.after_s
    assert learned.points == pytest.approx(sum(0.99**n for n in range(5)), rel=0.01)
    stopped = [*made[:5], *(replace(line, published_s=line.published_s + 9e4) for line in made[5:])]
    assert profile(stopped).batch.after_s.at(100) == pytest.approx(0.1, rel=0.01)


def test_batches_that_are_all_alike_move_the_ratios_and_not_the_line() -> None:
    learned = profile(mapped([10, 1_000, 10_000] * 8, readers=1)).batch
    slower = replace(mapped([1_000], readers=1)[0], phases={"map": {"mean": 0.41}})
    assert learned.knows(slower)
    assert not learned.knows(mapped([1_000_000], readers=1)[0])
    judged = learned
    for _ in range(100):
        judged = judged.judged(slower, LANES, keep=64)
    assert judged.phases_s == learned.phases_s
    assert len(judged.ratios) == 64
    assert judged.ratios[-1] == pytest.approx(0.41 / 0.21, rel=0.02)


def test_windows_that_are_told_now_and_then_cost_now_and_then() -> None:
    made = [replace(line, answers=50 if n % 10 == 9 else 0)
            for n, line in enumerate(lines([1_000] * 60))]  # fmt: skip
    assert profile(made).batch.answering == pytest.approx(0.15, abs=0.12)


def test_what_a_profile_says_nothing_about_is_taken_from_another() -> None:
    whole = known()
    trial, ran = replace(whole, stream=StreamCosts()), replace(whole, batch=BatchCosts())
    assert trial.filled_by(ran).stream == whole.stream
    assert ran.filled_by(trial).batch == whole.batch
    assert trial.filled_by(replace(ran, flow="another")) == trial


def mapped(sizes: list[int], slow: float = 1.0, readers: int = 2) -> list[BatchLine]:
    """Batches that do nothing but map: 0.2 s, and 10 us a record of a task."""
    return [
        replace(
            line,
            readers=readers,
            phases={"map": {"mean": slow * (0.2 + 1e-5 * line.rows / LANES.mapping(readers))}},
        )
        for line in lines(sizes)
    ]


def of_given_size(sizes: list[int]) -> list[BatchLine]:
    """Batches of a limit, then as many that took what had piled up while the machine was slow."""
    limited = [replace(line, max_rows=line.rows) for line in mapped(sizes)]
    return [*limited, *mapped([20_000] * len(sizes), slow=1.5)]


def test_batches_that_took_what_had_piled_up_do_not_teach_what_a_size_costs() -> None:
    learned = profile(of_given_size([100, 1_000, 5_000, 10_000] * 5))
    assert learned.batch_s(20_000) == pytest.approx(0.3, rel=0.01)
    few = profile(of_given_size([100, 1_000]))
    assert few.batch_s(20_000) > 0.4  # nothing else was seen


def test_each_number_of_readers_has_a_cost_of_its_own() -> None:
    sizes = [1_000, 10_000] * 8
    both = zip(mapped(sizes, readers=1), mapped(sizes, slow=2.0), strict=True)
    learned = profile([line for pair in both for line in pair])
    assert learned.batch_s(10_000, 1) == pytest.approx(0.3, rel=0.01)
    assert learned.batch_s(10_000, 2) == pytest.approx(0.5, rel=0.01)
    assert learned.batch.line("map", 16) == learned.batch.line("map", 2)


def test_a_batch_that_lasts_longer_than_a_window_changes_keys_of_several() -> None:
    made = [
        replace(line, work={**line.work, "window_s": 2.0}) for line in lines([1_000, 4_000] * 8)
    ]
    learned = profile(made).batch
    assert learned.keys_of(4_000) == pytest.approx(10 * 4_000**0.5, rel=0.02)
    # Four windows of 1,000 records each.
    assert learned.keys_of(4_000, lasting_s=6.0) == pytest.approx(40 * 1_000**0.5, rel=0.02)


def test_the_first_large_batch_of_a_number_of_readers_is_not_taken_for_a_stray() -> None:
    small, large = [10, 100, 1_000] * 8, [100_000] * 4
    two = mapped([*small, *large], readers=2)
    learned = profile([*two, *mapped([*small, *large], readers=1)])
    assert learned.batch_s(100_000, 1) == pytest.approx(1.2, rel=0.02)
    assert learned.batch_s(100_000, 2) == pytest.approx(0.7, rel=0.02)


def test_what_was_seen_with_small_batches_only_rises_as_others_do() -> None:
    wide, narrow = [10, 1_000, 10_000, 100_000] * 4, [10, 100] * 8
    learned = profile([*mapped(wide, readers=1), *mapped(narrow, readers=2)])
    assert learned.batch.line("map", 2).each == pytest.approx(1e-5, rel=0.01)
    fewer = profile([*mapped(wide, readers=2), *mapped(narrow, readers=1)])
    assert fewer.batch.line("map", 1).each >= 0.5e-5

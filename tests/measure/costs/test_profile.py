"""A profile is what the log of a run teaches, survives a file, and is brought up to date."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.errors import RunError
from headway.measure.batches import BatchLine
from headway.measure.costs.profile import load_profile, profile_of
from headway.measure.latency import Latency
from headway.measure.moments import SERVICE
from headway.testing.logs import START_S, made_line, made_phases


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
    learned = profile_of(lines([10, 100, 1_000, 10_000, 10, 1_000]), "f", "micro-batch")
    assert learned.batch_s(5_000) == pytest.approx(0.25, rel=0.01)
    assert learned.keys.at(2_500) == pytest.approx(500, rel=0.01)
    assert learned.answers.at(1_000) == pytest.approx(500, rel=0.01)
    assert learned.task_s.at(5_000) == pytest.approx(0.25, rel=0.01)
    assert learned.batches == 6
    assert "wait" not in learned.phases_s  # how long a record waits is no cost
    assert "queue" not in learned.phases_s


def test_a_batch_without_records_teaches_nothing() -> None:
    empty = replace(made_line(np.empty(0), START_S), phases={})
    assert profile_of([empty], "f", "micro-batch").batches == 0


def test_a_profile_survives_a_file(tmp_path: Path) -> None:
    learned = profile_of(lines([10, 1_000]), "f", "micro-batch")
    assert load_profile(learned.save(tmp_path / "deep" / "p.json")) == learned


def test_a_newer_profile_outweighs_an_older_one() -> None:
    old = profile_of(lines([10, 1_000] * 5, fixed_s=0.2), "f", "micro-batch")
    new = profile_of(lines([10, 1_000] * 5, fixed_s=0.6), "f", "micro-batch")
    both = old.together(new, keep=0.25)
    assert 0.5 < both.batch_s(10) < 0.6
    assert both.records == old.records + new.records
    assert SERVICE not in both.moments


@pytest.mark.parametrize("text", ["", "[1", '{"version": 9}', '{"version": 1}'])
def test_what_is_no_profile_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(RunError, match="is no profile"):
        load_profile(path)
    with pytest.raises(RunError, match="make one with `headway profile`"):
        load_profile(tmp_path / "none.json")

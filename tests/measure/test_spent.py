"""Phases over a run add up to its latency, of all records and of the slow ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from headway.measure.latency import Latency
from headway.measure.phases import Phase
from headway.measure.spent import band_of, phases_of, write_phases
from headway.measure.summary import summarise
from headway.testing.logs import START_S, made_line, made_lines, made_phases


def test_the_phases_of_a_run_add_up_to_its_mean_latency() -> None:
    summary = summarise(made_lines(60), warmup=3)
    assert sum(summary.phases_s.values()) == pytest.approx(summary.latency.mean_s, rel=1e-3)
    assert summary.phases["wait"].variance_s2 > 0
    assert summary.phases["map"].count == summary.records


def test_the_phases_around_the_p99_add_up_to_the_p99() -> None:
    lines = made_lines(60)[3:]
    found = band_of(lines)
    assert sum(found.values()) == pytest.approx(summarise(lines).latency.quantile(0.99), rel=0.03)


def test_slow_records_are_told_what_made_them_slow() -> None:
    quick = made_line(
        np.full(9_800, 0.2), START_S, phases=made_phases(Latency.of([0.1] * 9), 1, 0.1)
    )
    slow = made_line(
        np.full(200, 3.0), START_S + 3, batch=1, phases=made_phases(Latency.of([2.9]), 0.4, 0.1)
    )
    found = band_of([quick, slow])
    assert found["queue"] == pytest.approx(2.5, abs=0.01)
    assert found["wait"] == pytest.approx(0.4, abs=0.01)


def test_what_is_the_same_for_all_records_has_no_steps_and_reads_back() -> None:
    spent = phases_of(
        [(10, {"map": Phase.same(0.5).as_dict()}), (30, {"map": Phase.same(1.5).as_dict()})]
    )
    assert spent["map"].mean_s == pytest.approx(1.25)
    assert spent["map"].variance_s2 == pytest.approx(0.1875)
    assert spent["map"].quantile(0.2) == 0.5
    assert "steps" not in Phase.same(0.5).as_dict()


def test_a_run_that_changed_its_mode_adds_up_all_the_same() -> None:
    slow = {"map": Phase.same(0.4).as_dict(), "wait": Phase.same(0.7).as_dict()}
    quick = {"map": Phase.same(0.001).as_dict(), "fetch": Phase.same(0.01).as_dict()}
    found = phases_of([(1_000, slow), (1_000, quick)])
    whole_s = sum(spent.mean_s for spent in found.values())
    assert whole_s == pytest.approx((1.1 + 0.011) / 2)


def test_real_time_lines_have_no_band() -> None:
    line = made_line(np.full(10, 0.1), START_S, phases={"fetch": Phase.same(0.1).as_dict()})
    assert band_of([line]) == {}
    assert band_of([]) == {}


def test_the_phases_are_kept_as_parquet(tmp_path: Path) -> None:
    lines = made_lines(5)
    table = pq.read_table(write_phases(lines, tmp_path / "phases.parquet"))
    assert table.num_rows == sum(len(line.phases) for line in lines)
    row = next(row for row in table.to_pylist() if row["batch"] == 4 and row["phase"] == "wait")
    assert row["mean_s"] == lines[4].phases["wait"]["mean"]
    assert row["steps_s"] == lines[4].phases["wait"]["steps"]

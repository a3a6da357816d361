"""Benchmarks are found by name, told their options, and end in one line of JSON."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

import headway.benches
from headway.benches.options import progress
from headway.cli.main import run_app
from headway.cli.outcome import Exit

BENCH = '''
"""A benchmark for this test."""
SENTENCE = "Counts to a number."
def run(options):
    return {"times": options.times, "quick": options.quick, "seed": options.seed,
            "latency": {"p50_s": 0.25}}
'''


@pytest.fixture(autouse=True)
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counting_for_test.py").write_text(BENCH)
    (tmp_path / "helper_for_test.py").write_text("SIZE = 1\n")
    monkeypatch.setattr(headway.benches, "__path__", [str(tmp_path)])


def test_a_benchmark_runs_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bench", "counting_for_test", "--times", "7", "--quick", "--seed", "3"]
    assert run_app(arguments) == Exit.DONE
    said = capsys.readouterr()
    figures = json.loads(said.out.splitlines()[-1])
    assert figures == {"times": 7, "quick": True, "seed": 3, "latency": {"p50_s": 0.25}}
    assert "Counts to a number." in said.err
    assert "latency.p50_s" in said.err


def test_benchmarks_are_listed_with_their_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["bench", "--list"]) == Exit.DONE
    assert capsys.readouterr().out == "counting_for_test  Counts to a number.\n"
    assert run_app(["bench", "--list", "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out) == {"counting_for_test": "Counts to a number."}


@pytest.mark.parametrize("arguments", [["bench"], ["bench", "nope"]])
def test_a_benchmark_that_is_none_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(arguments) == Exit.USED_WRONGLY
    assert "counting_for_test" in capsys.readouterr().err


def test_data_for_a_benchmark_that_makes_its_own_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["bench", "counting_for_test", "--data", str(tmp_path)]
    assert run_app(arguments) == Exit.USED_WRONGLY
    assert "leave out --data" in capsys.readouterr().err


def test_progress_off_a_terminal_is_ten_lines_at_most() -> None:
    out = StringIO()
    with progress(50, "crashes", Console(file=out)) as bar:
        for number in range(50):
            bar.advance(note=f"crash {number}")
    lines = out.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[-1] == "50 of 50, crashes: crash 49"


def test_progress_on_a_terminal_is_a_bar() -> None:
    out = StringIO()
    with progress(2, "crashes", Console(file=out, force_terminal=True)) as bar:
        bar.advance(2)
    assert "2/2" in out.getvalue()
    assert isinstance(headway.benches, ModuleType)

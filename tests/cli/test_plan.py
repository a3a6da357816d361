"""`headway plan` answers from a profile, says what cannot be, and runs nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from headway.cli.main import run_app
from headway.cli.outcome import UsedWrongly
from headway.cli.planning.profile import check_taught
from headway.cli.running.flow_file import load_flow
from headway.measure.costs.profile import PROFILES, JobProfile
from tests.model.profiles import profile, stored

FLOW = """
import headway as hw
flow = hw.replay([{"a": 1}], rate=10).key("a").reduce(n="count(*)").to("console")
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A flow that was profiled, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    Path("flow.py").write_text(FLOW)
    fingerprint = load_flow("flow.py").fingerprint
    replace(profile(), flow=fingerprint).save(PROFILES / f"{fingerprint}.json")
    return "flow.py"


def test_a_plan_is_told_with_its_phases_and_alternatives(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["plan", file, "--goal", "p99 <= 2s", "--rate", "20000", "--explain"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("micro-batch every")
    assert "where the mean of a record goes" in told
    assert "instead of" in told
    assert "a batch of n records" in told
    assert "real-time" not in told  # a replayed flow does not suit it


def test_a_plan_as_json_holds_every_figure(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["plan", file, "--goal", "mean <= 1s", "--nodes", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["feasible"]
    assert found["chosen"]["nodes"] == 2
    low, high = found["chosen"]["predicted_between_s"]
    assert low < found["chosen"]["predicted_s"] < high
    assert sum(found["chosen"]["phases_s"].values()) == pytest.approx(
        found["chosen"]["mean_s"], rel=0.02
    )


def test_what_no_plan_reaches_ends_with_3(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["plan", file, "--goal", "p99 <= 10ms", "--rate", "100", "--all", "--explain"]
    assert run_app(asked) == 3
    told = capsys.readouterr().out
    assert "where the mean of a record goes" in told
    assert "a batch of n records" in told
    assert told.startswith("no plan reaches p99 <= 10ms at 100/s; nearest: ")
    assert "candidates, by the rate" in told


def test_wrong_use_says_what_to_do(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["plan", file, "--goal", "p99 <= 1s per window"]) == 2
    assert "per window, and this flow has none" in capsys.readouterr().err
    other = profile().save(tmp_path / "other.json")
    assert run_app(["plan", file, "--goal", "p99 <= 1s", "--profile", str(other)]) == 2
    assert "profile of another flow" in capsys.readouterr().err
    Path("new.py").write_text(FLOW.replace('"a": 1', '"b": 1').replace('key("a")', 'key("b")'))
    assert run_app(["plan", "new.py", "--goal", "p99 <= 1s"]) == 1
    assert "make one with `headway profile`" in capsys.readouterr().err


def test_a_profile_of_few_batches_is_not_kept() -> None:
    known = profile()
    check_taught(known)
    few = JobProfile("f", known.lanes, replace(known.batch, batches=1, records=6_960))
    with pytest.raises(UsedWrongly, match=r"only 1 batches could be tried .* of 6,960 records"):
        check_taught(few)
    check_taught(replace(few, stream=known.stream))
    with pytest.raises(UsedWrongly, match="no records to learn from"):
        check_taught(JobProfile("f"))


def test_a_store_that_is_left_out_is_told_with_the_reason(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fingerprint = load_flow(file).fingerprint
    grown = replace(stored(per_doubling=2.0), flow=fingerprint)
    grown.save(PROFILES / f"{fingerprint}.json")
    asked = ["plan", file, "--goal", "p99 <= 2s"]
    assert run_app(asked) == 0
    told = capsys.readouterr().out
    assert "states in RocksDB" in told
    assert "(states in memory are not considered: they took 8.0 MB after" in told
    assert run_app([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["chosen"]["store"] == "rocksdb"
    assert len(found["left_out"]) == 1

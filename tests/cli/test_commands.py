"""The commands from arguments to result, over runs that need no Spark."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pytest

import headway as hw
from headway.cli.main import run_app
from headway.cli.outcome import Exit
from headway.cli.run import too_short
from headway.cli.running.follow import Handle, Wanted
from headway.engine.spark.sinks import show
from headway.engine.topics.port import Slice
from headway.engine.topics.quarantine import Quarantined, set_aside
from headway.errors import RunError
from headway.flow.topics import MadeRecords
from headway.measure.account import Account
from headway.measure.batches import BatchLine, BatchLog
from headway.measure.summary import account_of
from headway.testing.logs import made_lines

FLOW = "import headway as hw\nflow = hw.replay([{'a': 1}]).map('a').to('console')\n"

pytestmark = pytest.mark.usefixtures("here")


@dataclass
class ScriptedRun:
    """A handle over made lines; it ends after the last, or fails there with `fails_with`."""

    folder: Path
    coming: Sequence[BatchLine]
    fails_with: Exception | None = None
    endless: bool = False
    shown: int = 0
    stops: int = 0

    @property
    def active(self) -> bool:
        return not self.stops and (self.endless or self.shown < len(self.coming))

    @property
    def error(self) -> Exception | None:
        return self.fails_with if self.shown >= len(self.coming) else None

    @property
    def account(self) -> Account:
        return account_of(self.lines())

    def lines(self) -> list[BatchLine]:
        return list(self.coming[: self.shown])

    def wait(self, timeout_s: float | None = None) -> bool:
        self.shown = min(self.shown + 1, len(self.coming))
        if self.error is not None:
            raise self.error
        return not self.active

    def stop(self) -> None:
        self.stops += 1


@dataclass
class ScriptedEngine:
    """Starts scripted runs, and remembers what was wanted of it."""

    lines: Sequence[BatchLine]
    fails_with: Exception | None = None
    endless: bool = False
    wanted: list[Wanted] = field(default_factory=list)
    runs: list[ScriptedRun] = field(default_factory=list)

    def __call__(self, wanted: Wanted) -> Handle:
        self.wanted.append(wanted)
        wanted.folder.mkdir(parents=True, exist_ok=True)
        for line in self.lines:
            BatchLog(wanted.folder / "batches.jsonl").append(line)
        self.runs.append(ScriptedRun(wanted.folder, self.lines, self.fails_with, self.endless))
        return self.runs[-1]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def engine() -> ScriptedEngine:
    """An engine whose runs have twenty batches."""
    return ScriptedEngine(shifted(made_lines(20)))


def shifted(lines: Sequence[BatchLine]) -> list[BatchLine]:
    """Made lines moved into the far future, where a command takes them for its own run's."""
    ahead_s = 10_000_000_000.0
    return [
        replace(
            line,
            started_s=line.started_s + ahead_s,
            published_s=line.published_s + ahead_s,
        )
        for line in lines
    ]


@pytest.fixture
def flow_file(here: Path) -> str:
    (here / "mine.py").write_text(FLOW)
    return "mine.py"


def test_run_prints_its_result_and_writes_its_report(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_app(["run", flow_file, "--goal", "p99 <= 20s", "--folder", "runs/one"], engine)
    out = capsys.readouterr().out
    assert code == Exit.DONE
    assert "goal p99 <= 20s met: p99 was" in out
    assert "\x1b" not in out
    assert Path("headway-report/mine.html").is_file()
    assert json.loads(Path("runs/one/about.json").read_text())["goal"] == "p99 <= 20s"


def test_json_has_the_same_facts(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["run", flow_file, "--warmup", "3", "--json"], engine) == Exit.DONE
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found["warmup_batches"] == 3
    assert found["batches"] == 17
    assert found["met"] is None
    assert found["balanced"]
    assert Path(found["report"]).is_file()
    assert Path(found["folder"]).parent == Path(".headway")


def test_a_missed_goal_ends_with_three_and_says_what_start_up_may_have_to_do_with_it(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["run", flow_file, "--goal", "p99 <= 1ms"], engine) == Exit.GOAL_MISSED
    assert "--warmup 3 leaves them out" in capsys.readouterr().out
    warmed = ["run", flow_file, "--goal", "p99 <= 1ms", "--warmup", "3"]
    assert run_app(warmed, engine) == Exit.GOAL_MISSED
    assert "--warmup 3" not in capsys.readouterr().out


def test_json_is_all_there_is_on_stdout_though_answers_go_to_the_console(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(wanted: Wanted) -> Handle:
        show(3, pa.table({"n": [1]}))
        return engine(wanted)

    assert run_app(["run", flow_file, "--json"], start) == Exit.DONE
    said = capsys.readouterr()
    assert json.loads(said.out)["balanced"]
    assert "batch 3: 1 answers" in said.err


def test_a_flow_that_is_wrong_ends_with_two(here: Path, engine: ScriptedEngine) -> None:
    (here / "wrong.py").write_text(FLOW.replace("map('a')", "map('b')"))
    assert run_app(["run", "wrong.py"], engine) == Exit.USED_WRONGLY


def test_quarantine_says_which_records_and_why(
    here: Path, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "one").mkdir()
    (here / "one" / "run.json").write_text("{}")
    assert run_app(["quarantine", "one"], engine) == Exit.DONE
    assert "nothing was set aside" in capsys.readouterr().out
    place = here / "one" / "quarantine" / "counts"
    torn = [
        Quarantined(5, b'{"a": ', "not JSON: unexpected end"),
        Quarantined(7, b"\xff", "no UTF-8"),
    ]
    set_aside(place, "clicks", Slice("0", 0, 9), "unreadable", torn)
    set_aside(place, "clicks", Slice("0", 9, 10), "late", [Quarantined(9, b"{}", "too late")])
    assert run_app(["quarantine", "one", "--most", "2"], engine) == Exit.DONE
    out = capsys.readouterr().out
    assert "2 unreadable, 1 late" in out
    assert "clicks 0/5: not JSON: unexpected end" in out
    assert "... and 1 more; --most 3 shows them all" in out
    assert run_app(["quarantine", "one", "--json"], engine) == Exit.DONE
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"unreadable": 2, "late": 1}
    assert found["records"][1]["raw"] == "\\xff"
    assert run_app(["quarantine", "."], engine) == Exit.USED_WRONGLY


def test_options_reach_the_engine(engine: ScriptedEngine, flow_file: str) -> None:
    options = ["--master", "local[1]", "--interval", "250ms", "--max-rows", "7"]
    assert run_app(["run", flow_file, *options], engine) == Exit.DONE
    (wanted,) = engine.wanted
    assert (wanted.master, wanted.interval_s, wanted.max_rows) == ("local[1]", 0.25, 7)
    assert wanted.goal is None


def test_a_run_that_fails_leaves_a_report_and_ends_with_one(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.fails_with = RunError("the sink is gone; bring it back")
    assert run_app(["run", flow_file], engine) == Exit.FAILED
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == "the sink is gone; bring it back"
    assert said.out == ""
    assert Path("headway-report/mine.html").is_file()
    assert engine.runs[0].stops


def test_a_run_ends_when_its_time_is_up(engine: ScriptedEngine, flow_file: str) -> None:
    engine.endless = True
    assert run_app(["run", flow_file, "--for", "20ms"], engine) == Exit.DONE
    assert engine.runs[0].stops == 1


def test_a_request_to_end_ends_the_run_as_ctrl_c_does(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.endless = True
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    assert run_app(["run", flow_file, "--json"], engine) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["records"] > 0
    assert engine.runs[0].stops == 1


def test_lines_of_earlier_starts_are_left_out(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old = [replace(line, published_s=1.0, started_s=0.5) for line in engine.lines[:5]]
    engine.lines = [*old, *engine.lines[5:]]
    assert run_app(["run", flow_file, "--folder", "r", "--json"], engine) == Exit.DONE
    first = json.loads(capsys.readouterr().out)
    assert first["batches"] == 15
    assert run_app(["report", "r", "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["records"] == first["records"]


def test_report_is_made_again_from_the_folder_alone(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_app(["run", flow_file, "--folder", "r", "--goal", "p99 <= 1ms"], engine)
    figures = Path("headway-report/mine.html").read_text().partition("<div class='tiles'>")[2]
    capsys.readouterr()
    assert run_app(["report", "r"]) == Exit.DONE
    assert "goal p99 <= 1ms missed" in capsys.readouterr().out
    assert figures
    assert Path("r/report.html").read_text().endswith(figures)


def test_report_measures_a_run_against_another_goal(
    engine: ScriptedEngine, flow_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_app(["run", flow_file, "--folder", "r"], engine)
    capsys.readouterr()
    assert run_app(["report", "r", "--goal", "p99 <= 2s", "--warmup", "3", "--json"]) == Exit.DONE
    found = json.loads(capsys.readouterr().out)
    assert (found["goal"], found["met"], found["warmup_batches"]) == ("p99 <= 2s", True, 3)


def test_report_of_no_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert run_app(["report", "empty"]) == Exit.FAILED
    assert "not the folder of a run" in capsys.readouterr().err
    assert run_app(["report", "nowhere"]) == Exit.USED_WRONGLY


def test_the_demo_warms_spark_up_first_and_says_what_it_left_out(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["demo", "--quick", "--rate", "50"], engine) == Exit.DONE
    warm, shown = engine.wanted
    assert warm.goal is None
    assert warm.output == shown.folder
    assert str(shown.goal) == "p99 <= 5s"
    assert "over 5s" in str(shown.flow)
    topic = shown.flow.sources[0].topic
    assert isinstance(topic, MadeRecords)
    assert topic.count == 1_000
    said = capsys.readouterr()
    assert "the first 3 batches are left out" in said.out
    assert "warming it up" in said.err
    assert Path("headway-report/demo.html").is_file()


def test_a_real_time_run_that_may_end_before_it_tells_anything_is_told_so() -> None:
    flow = hw.replay([{"n": 1}]).to("console")
    wanted = Wanted(flow, None, Path("run"), mode="real-time")
    assert too_short(wanted, 25.0)
    assert not too_short(wanted, None)
    assert not too_short(replace(wanted, checkpoint_s=5.0), 25.0)
    assert not too_short(replace(wanted, mode="micro-batch"), 25.0)

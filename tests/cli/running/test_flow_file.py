"""A flow is found in its file, or the message says how to name it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.outcome import UsedWrongly
from headway.cli.running.flow_file import load_flow
from headway.errors import FlowError, RunError

START = "import headway as hw\nwords = hw.replay([{'word': 'a'}]).map('word', key='word')\n"
COUNTS = START + "_n = words.reduce(n='count(*)')\n"


@pytest.fixture(autouse=True)
def same_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test puts on the path goes with it."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def written(folder: Path, text: str, name: str = "flows.py") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_the_only_flow_of_a_file_is_found(tmp_path: Path) -> None:
    flow = load_flow(written(tmp_path, COUNTS + "counts = _n.to('console')\nalso = counts\n"))
    assert flow.sinks[0].target.kind == "console"


def test_one_of_several_flows_must_be_named(tmp_path: Path) -> None:
    file = written(tmp_path, COUNTS + "a = _n.to('console')\nb = _n.to('spool:out')\n")
    with pytest.raises(UsedWrongly, match=r"several flows \(a, b\).*flows.py:a"):
        load_flow(file)
    assert load_flow(f"{file}:b").sinks[0].target.kind == "spool"


def test_a_stream_ends_on_the_console(tmp_path: Path) -> None:
    assert load_flow(written(tmp_path, START)).sinks[0].target.kind == "console"


def test_a_function_that_makes_a_flow_is_called(tmp_path: Path) -> None:
    text = COUNTS + "def build() -> hw.Flow:\n    return _n.to('console')\n"
    file = written(tmp_path, text)
    assert load_flow(file) == load_flow(f"{file}:build")


def test_a_function_that_needs_arguments_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, COUNTS + "def build(n) -> hw.Flow:\n    return _n.to('console')\n")
    with pytest.raises(UsedWrongly, match="needs arguments"):
        load_flow(f"{file}:build")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("x = 1\n", "", "makes no flow"),
        (COUNTS, ":nope", "nothing called 'nope'; its flows are: words"),
        ("x = 1\n", ":x", "'x' in flows.py is a int, not a flow"),
    ],
)
def test_what_is_no_flow_is_refused(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(UsedWrongly, match=message):
        load_flow(written(tmp_path, text) + name)


def test_a_file_that_is_not_there_or_not_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsedWrongly, match="there is no file"):
        load_flow(str(tmp_path / "none.py"))
    with pytest.raises(UsedWrongly, match=r"ends in \.py"):
        load_flow(written(tmp_path, "", "flow.txt"))


@pytest.mark.parametrize(
    ("text", "message"),
    [("x = 1\ny = 1 / 0\n", "ZeroDivisionError.*line 2"), ("x = (\n", "SyntaxError.*line 1")],
)
def test_an_error_in_the_file_says_where(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        load_flow(written(tmp_path, text))


def test_an_error_of_the_flow_is_told_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FlowError, match="key 'nope' is not a column"):
        load_flow(written(tmp_path, START + "bad = words.key('nope')\n"))


def test_a_file_may_import_its_neighbours_and_may_have_the_name_of_a_module(tmp_path: Path) -> None:
    written(tmp_path, COUNTS + "counts = _n.to('console')\n", "neighbour_of_flow.py")
    file = written(tmp_path, "from neighbour_of_flow import counts\n", "json.py")
    assert load_flow(file).sinks
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    child = [sys.executable, "-c", "import json; print(json.loads('7'))"]
    assert subprocess.run(child, env=os.environ | path, capture_output=True).stdout == b"7\n"

"""A command ends with the exit code that its outcome calls for, and says no more than it must."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
import typer
from rich.console import Console

from headway.cli.main import run_app
from headway.cli.options import seconds_or_none
from headway.cli.outcome import Exit, UsedWrongly, exit_code_of
from headway.cli.running.follow import Handle, Wanted
from headway.errors import FlowError, GoalError, QueryError


def raising(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


def ended(error: BaseException, *, debug: bool = False) -> tuple[int, str]:
    out = StringIO()
    code = exit_code_of(raising(error), debug=debug, stderr=Console(file=out, width=40))
    return code, out.getvalue()


def test_nothing_raised_is_done() -> None:
    assert exit_code_of(lambda: None, debug=False, stderr=Console()) == Exit.DONE


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FlowError("two steps"), Exit.USED_WRONGLY),
        (QueryError("no table"), Exit.USED_WRONGLY),
        (GoalError("no goal"), Exit.USED_WRONGLY),
        (UsedWrongly("no file"), Exit.USED_WRONGLY),
        (SystemExit(3), Exit.GOAL_MISSED),
        (SystemExit(None), Exit.DONE),
        (SystemExit("text"), Exit.FAILED),
        (SystemExit(130), Exit.FAILED),
        (ZeroDivisionError("division by zero"), Exit.FAILED),
    ],
)
def test_each_ending_has_its_code(error: BaseException, code: Exit) -> None:
    assert ended(error)[0] == code


def test_an_error_of_ours_is_its_message_alone() -> None:
    message = "a long message [with brackets] that a console of forty columns would wrap"
    assert ended(FlowError(message))[1] == message + "\n"


def test_another_error_comes_with_a_hint_and_a_traceback_when_asked() -> None:
    plain = ended(ZeroDivisionError("division by zero"))[1]
    assert "ZeroDivisionError: division by zero" in plain
    assert "--debug" in plain
    assert "Traceback" not in plain
    assert "Traceback" in ended(FlowError("x"), debug=True)[1]


@pytest.mark.parametrize("text", ["5", "0s", "soon"])
def test_a_length_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsedWrongly, match="--for"):
        seconds_or_none(text, "--for")


def test_a_length_is_seconds() -> None:
    assert seconds_or_none("5min", "--for") == 300.0
    assert seconds_or_none(None, "--for") is None


@pytest.mark.parametrize("arguments", [["frob"], ["demo", "--rate", "0"], ["run"]])
def test_a_command_line_that_is_wrong_ends_with_two(arguments: list[str]) -> None:
    assert run_app(arguments) == Exit.USED_WRONGLY


def interrupted(wanted: Wanted) -> Handle:
    raise KeyboardInterrupt


def test_ctrl_c_while_spark_starts_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_app(["demo"], interrupted) == Exit.FAILED
    assert capsys.readouterr().err.splitlines()[-1] == "stopped"


def test_debug_may_stand_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--debug", "run", "no.py"], ["run", "no.py", "--debug"]):
        assert run_app(arguments) == Exit.USED_WRONGLY
        assert "Traceback" in capsys.readouterr().err


def test_every_command_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["--help"]) == Exit.DONE
    text = capsys.readouterr().out
    for name in ("demo", "run", "report", "bench", "goal missed"):
        assert name in text
    assert isinstance(typer.Exit(Exit.GOAL_MISSED).exit_code, int)

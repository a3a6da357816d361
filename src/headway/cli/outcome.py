"""How a command ends: its exit code, and what it says of an error."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from enum import IntEnum

from rich.console import Console

from headway.errors import FlowError, GoalError, HeadwayError, QueryError

INTERRUPTED = 130  # what typer makes of Ctrl-C


class Exit(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    FAILED = 1
    USED_WRONGLY = 2
    GOAL_MISSED = 3


class UsedWrongly(HeadwayError, ValueError):
    """A command that was given what it cannot work with; its text says what to give instead."""


def exit_code_of(command: Callable[[], None], *, debug: bool, stderr: Console) -> int:
    """Run a command to its exit code; of an error only its message is shown, unless `debug`."""
    try:
        command()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        say(stderr, "stopped")
        return Exit.FAILED
    except Exception as error:
        if debug:
            say(stderr, traceback.format_exc().rstrip())
        say(stderr, message_of(error, debug=debug))
        wrong = isinstance(error, UsedWrongly | GoalError | FlowError | QueryError)
        return Exit.USED_WRONGLY if wrong else Exit.FAILED
    return Exit.DONE


def message_of(error: Exception, *, debug: bool = False) -> str:
    """What to tell a user of an error: our own say it all, others need a hint."""
    if isinstance(error, HeadwayError):
        return str(error)
    hint = "" if debug else "\nRun the command again with --debug to see where."
    return f"headway failed: {type(error).__name__}: {error}{hint}"


def say(console: Console, text: str) -> None:
    """Print text as it is: unwrapped, and with nothing in it taken for markup."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)

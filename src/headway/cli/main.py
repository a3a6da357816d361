"""The `headway` command: its subcommands put together, and one place where they all end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from headway.cli.asking.ask import ask
from headway.cli.bench import bench
from headway.cli.demo import demo
from headway.cli.outcome import exit_code_of
from headway.cli.planning.explain import explain_file
from headway.cli.planning.plan import plan
from headway.cli.planning.profile import profile
from headway.cli.quarantine import quarantine
from headway.cli.report import report
from headway.cli.run import run_file
from headway.cli.running.follow import Starter
from headway.cli.running.start import start_on_spark
from headway.cli.watch import watch

DEBUG = "--debug"

app = typer.Typer(
    help="Spark that answers on time: state a streaming query and when its answer is due.",
    epilog="Exit codes: 0 done, 1 failed, 2 used wrongly, 3 goal missed.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)
app.command("demo")(demo)
app.command("run")(run_file)
app.command("ask")(ask)
app.command("explain")(explain_file)
app.command("profile")(profile)
app.command("plan")(plan)
app.command("watch")(watch)
app.command("quarantine")(quarantine)
app.command("report")(report)
app.command("bench")(bench)


@app.callback()
def every_command(
    debug: Annotated[bool, typer.Option(DEBUG, help="Show where an error came from.")] = False,
) -> None:
    """Spark that answers on time: state a streaming query and when its answer is due."""


def run_app(arguments: Sequence[str], start: Starter = start_on_spark) -> int:
    """The exit code of a command line; `--debug` may stand anywhere in it."""
    rest = [argument for argument in arguments if argument != DEBUG]
    command = partial(app, args=rest, prog_name="headway", obj=start)
    return exit_code_of(command, debug=DEBUG in arguments, stderr=Console(stderr=True))


def main() -> None:
    """Run the command that this process was called with."""
    sys.exit(run_app(sys.argv[1:]))

"""`headway explain`: say what the flow of a Python file does, and how it can run."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from headway.cli.outcome import say
from headway.cli.running.flow_file import load_flow
from headway.plan.explain import explain


def explain_file(
    file: Annotated[str, typer.Argument(help="FILE.py, or FILE.py:name of the flow in it.")],
) -> None:
    """Say what a flow does, which modes it can run in, and why not in the other."""
    say(Console(), explain(load_flow(file)))

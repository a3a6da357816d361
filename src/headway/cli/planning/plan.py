"""`headway plan`: a goal in, a plan out, before anything runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from headway.cli.options import Json
from headway.cli.outcome import UsedWrongly, say
from headway.cli.running.flow_file import load_flow
from headway.errors import PlanError, RunError
from headway.flow.goals import parse_goal
from headway.flow.graph import Flow
from headway.keep.loop import load_of
from headway.measure.costs.profile import PROFILES, JobProfile, load_profile
from headway.model.predict import known_in
from headway.plan.modes import modes_of
from headway.plan.planner import make_plan
from headway.plan.search import Wanted
from headway.plan.space import space_of
from headway.plan.text import arithmetic, every_figures, every_text, plan_figures, plan_text

INFEASIBLE = 3
NOT_KNOWN = (
    "(the profile says nothing of {mode}, which this flow suits: run it there for some minutes, "
    "and plan with --profile FOLDER/profile.json)"
)


def plan(
    file: Annotated[str, typer.Argument(help="FILE.py, or FILE.py:name of the flow in it.")],
    goal: Annotated[str, typer.Option("--goal", help="When answers are due: 'p99 <= 1s'.")],
    rate: Annotated[float | None, typer.Option(min=0.001, help="Records a second.")] = None,
    nodes: Annotated[int, typer.Option(min=1, help="How many machines there are at most.")] = 1,
    cores: Annotated[int | None, typer.Option(min=1, help="Of each machine.")] = None,
    profile: Annotated[Path | None, typer.Option(help="What `headway profile` wrote.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every candidate.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the arithmetic.")] = False,
    as_json: Json = False,
) -> None:
    """Find the setting that keeps a goal at the highest rate, on the fewest nodes; runs nothing."""
    flow = load_flow(file)
    known = known_profile(flow, profile)
    wanted = Wanted(parse_goal(goal), load_of(known, 1.0, flow.lateness_s))
    if wanted.goal.per == "window" and not any(s.window for s in flow.stateful()):
        raise UsedWrongly(f"the goal {goal!r} is per window, and this flow has none")
    # On this machine alone a run has as many reducers as the profile was made with.
    fixed = known.lanes.reducers if nodes == 1 and cores is None else None
    here = cores or known.lanes.cores or os.cpu_count() or 1
    space = space_of(known, modes_of(flow), here, fixed)
    if not space.modes:
        raise PlanError(
            "the profile says too little to plan by; make one with `headway profile`, or run the "
            "flow for some minutes" + "".join(f"\n({why})" for why in space.left_out)
        )
    found = make_plan(space, wanted, nodes, rate)
    unknown = [mode for mode in modes_of(flow) if not known_in(known, mode)]
    if as_json:
        figures = plan_figures(found) | {"modes_not_known": unknown, "left_out": space.left_out}
        print(json.dumps(figures | ({"all": every_figures(found)} if every else {})))
    else:
        console = Console()
        say(console, plan_text(found))
        for mode in unknown:
            say(console, NOT_KNOWN.format(mode=mode))
        for why in space.left_out:
            say(console, f"({why})")
        if every:
            say(console, every_text(found))
        shown = found.chosen or next(iter(found.nearest), None)
        if explain and shown:
            say(console, arithmetic(known, shown.predicted))
    if found.chosen is None:
        raise typer.Exit(INFEASIBLE)


def known_profile(flow: Flow, path: Path | None) -> JobProfile:
    """The profile of a flow, refused when it is of another one."""
    found = load_profile(path or PROFILES / f"{flow.fingerprint}.json")
    if found.flow != flow.fingerprint:
        raise UsedWrongly(f"{path} is the profile of another flow; make one with `headway profile`")
    if path is None:
        return found
    try:
        return found.filled_by(load_profile(PROFILES / f"{flow.fingerprint}.json"))
    except RunError:
        return found  # there is no other

"""A run whose rate doubles and halves: what is changed and why, and whether the goal is kept."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from headway.benches.foretold.learned import CORES, MEASURED
from headway.benches.options import BenchOptions, progress
from headway.dashboard.about import load_about
from headway.dashboard.report import write_report
from headway.engine.spark.learning.profiling import drop
from headway.engine.spark.run import run as run_flow
from headway.engine.spark.session import open_session
from headway.engine.spark.settings import Settings
from headway.flow.goals import parse_goal
from headway.keep.decisions import DECISIONS, Decision, read_decisions
from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.summary import latency_of

SENTENCE = "A goal kept while the rate doubles and halves: each change of plan with its reason."
WORKLOAD, GOAL = "words", "p99 <= 2s"
RATE = 20_000.0
TIMES = (1.0, 2.0, 1.0, 0.5, 1.0)  # the rate, step by step
WARM_S = 20.0  # of the first step, while the JVM is cold and the flow is not known
CHANGING_S = 5.0  # after a change was announced


def run(options: BenchOptions) -> dict[str, Any]:
    """Run through the steps with a goal, and tell what was changed and what came of it."""
    step_s = 20.0 if options.quick else 60.0
    steps = [(f"{step_s:g}s", RATE * times) for times in TIMES]
    count = sum(round(step_s * RATE * times) for times in TIMES)
    folder = options.report / "loop"
    shutil.rmtree(folder, ignore_errors=True)
    workload = MEASURED[WORKLOAD]
    assert workload.native is not None
    flow = workload.native(workload.source(steps, count)).to(drop)
    seconds = round(step_s * len(TIMES))
    spark = open_session(f"local[{CORES}]")
    try:
        with (
            progress(seconds, "seconds") as bar,
            run_flow(flow, goal=GOAL, folder=folder, session=spark, settings=Settings()) as handle,
        ):
            while not handle.wait(1.0):
                bar.advance(note=f"every {handle.pace.interval_s:.3g} s")
    finally:
        spark.stop()
    lines, decisions = handle.lines(), list(read_decisions(folder / DECISIONS))
    report = write_report(lines, load_about(folder, lines), folder / "report.html")
    figures = figures_of(lines, decisions, step_s) | {"goal": GOAL}
    options.keep("loop", figures)
    return figures | {"report": str(report)}


def figures_of(
    lines: Sequence[BatchLine], decisions: Sequence[Decision], step_s: float
) -> dict[str, Any]:
    """The figures by name; times are seconds after the first record was due."""
    own = [line for line in lines if line.rows]
    begun_s = own[0].published_s - float(own[0].latency["max"])
    changes = [each for each in decisions if each.action == "change"]
    announced = [each.at_s - begun_s for each in changes]
    calm = [
        line for line in own
        if (at_s := line.published_s - begun_s) >= WARM_S
        and not any(0 <= at_s - changed_s <= CHANGING_S for changed_s in announced)
    ]  # fmt: skip
    limit_s = parse_goal(GOAL).limit_s
    return {
        "changes": len(changes),
        "pendulum": pendulum([(each.at_s - begun_s, each.candidate.interval_s) for each in changes],
                             step_s),
        "kept_share": share_within(calm, limit_s),
        "kept_share_with_changes": share_within(
            [line for line in own if line.published_s - begun_s >= WARM_S], limit_s
        ),
        "warm_up_s": WARM_S,
        "steps": [
            step_figures(own, begun_s + step_s * place, step_s, RATE * times)
            for place, times in enumerate(TIMES)
        ],
        "decisions": [
            {"at_s": round(each.at_s - begun_s, 1), "rate_per_s": round(each.rate_per_s),
             "plan": str(each.candidate), "because": each.because}
            for each in changes
        ],
    }  # fmt: skip


def pendulum(changes: Sequence[tuple[float, float]], step_s: float) -> int:
    """How often a change went back on the one before while the rate stayed as it was.

    >>> pendulum([(5.0, 1.0), (25.0, 0.5), (45.0, 1.0), (70.0, 0.5)], 60.0)
    1
    """
    back = 0
    for (first, second), (_, third) in zip(pairwise(changes), pairwise(changes[1:]), strict=False):
        same_step = int(second[0] // step_s) == int(third[0] // step_s)
        back += same_step and (second[1] - first[1]) * (third[1] - second[1]) < 0
    return back


def step_figures(
    lines: Sequence[BatchLine], begun_s: float, step_s: float, rate_per_s: float
) -> dict[str, float | None]:
    """What was seen while one rate held; None where no batch was."""
    own = [line for line in lines if begun_s <= line.published_s < begun_s + step_s]
    late = Latency.together(latency_of(line) for line in own)
    return {
        "rate_per_s": rate_per_s,
        "p99_s": round(late.quantile(0.99), 3) if late.count else None,
        "interval_s_at_end": own[-1].interval_s if own else None,
    }


def share_within(lines: Sequence[BatchLine], limit_s: float) -> float | None:
    """The share of records that were answered within the limit."""
    late = Latency.together(latency_of(line) for line in lines)
    if not late.count:
        return None
    return round(float(late.weights[late.values_s <= limit_s].sum() / late.weights.sum()), 5)

"""The simulated engine against Spark, and what it says of clusters that are not here."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from headway.benches.foretold.learned import CORES, PROFILED, workbenches
from headway.benches.foretold.model import ROUNDS, ROUNDS_FULL, drawn
from headway.benches.foretold.steps import Step, learned_first
from headway.benches.foretold.streams import measure_streams
from headway.benches.foretold.workbench import Measured
from headway.benches.options import BenchOptions, progress
from headway.engine.simulated.run import simulate
from headway.engine.simulated.world import Traffic
from headway.flow.goals import parse_goal
from headway.flow.rates import parse_rate
from headway.measure.costs.profile import JobProfile
from headway.model.candidate import Candidate, Load
from headway.plan.planner import make_plan
from headway.plan.search import Wanted
from headway.plan.space import space_of

SENTENCE = "The simulated engine against Spark on the same settings, then on 10 nodes of 4 cores."
COMPARED = ("sessions", "words")  # whose answers are those of records
OF_EACH = 6  # settings of each
# The rates at which the paper ran its ten nodes, and the goals that it had.
TEN_NODES = {
    "sessions": (8_000_000.0, "mean <= 500ms"),
    "words": (1_000_000.0, "mean <= 1s"),
}
NODES, NODE_CORES = 10, 4
SIMULATED_S = 30.0


def run(options: BenchOptions) -> dict[str, Any]:
    """Profile, measure some settings on Spark, and simulate the same ones."""
    chosen = {n: s for n, s in drawn(options, OF_EACH).items() if n in COMPARED}
    rows: list[dict[str, Any]] = []
    cluster: dict[str, Any] = {}
    with progress(len(chosen) * 2 + 1, "steps") as bar:
        for name, bench in workbenches(chosen, options.quick):
            seconds, warm_s = (8.0, 3.0) if options.quick else (14.0, 4.0)
            wanted = [Step(setting, seconds, warm_s) for setting in chosen[name]]
            rounds = ROUNDS_FULL if options.full else ROUNDS
            plan = learned_first(wanted, PROFILED[name], rounds, options.quick)
            seen = bench.trial(plan)
            bar.advance(note=f"{name} measured")
            rows += [compared(name, each) for each in seen if each.kept_up]
            cluster[name] = on_ten_nodes(name, seen[-1].known)
            bar.advance(note=f"{name} simulated")
        if not options.quick:
            with TemporaryDirectory(prefix="headway-bench-") as place:
                streams = measure_streams(Path(place), options.full, simulated_stream)
                rows += [
                    stream_row(each) for each in streams if np.isfinite(each["measured"]["mean_s"])
                ]
        bar.advance(note="real-time mode")
    figures = figures_of(rows) | {"ten_nodes": cluster, "seed": options.seed}
    options.keep("simulated", figures)
    Console(stderr=True).print(table_of(rows))
    return figures


def compared(name: str, seen: Measured) -> dict[str, Any]:
    """One setting on Spark and simulated."""
    setting = seen.setting
    traffic = Traffic(parse_rate(setting.rate_per_s))
    ran = simulate(seen.known, setting.candidate(CORES), traffic, SIMULATED_S)
    late = ran.latency(after_s=SIMULATED_S / 6)
    return {
        "workload": name,
        "mode": "micro-batch",
        "rate_per_s": setting.rate_per_s,
        "setting": setting.text,
        "measured": both_of(seen.records.mean_s, seen.records.quantile(0.99)),
        "simulated": both_of(late.mean_s, late.quantile(0.99)),
    }


def simulated_stream(
    profile: JobProfile, candidate: Candidate, rate_per_s: float
) -> tuple[float, float]:
    """The mean and the p99 of a stretch between two checkpoints, after one to warm up."""
    every_s = candidate.checkpoint_s
    ran = simulate(profile, candidate, Traffic(parse_rate(rate_per_s)), 2 * every_s)
    late = ran.latency(after_s=every_s)
    return late.mean_s, late.quantile(0.99)


def stream_row(each: dict[str, Any]) -> dict[str, Any]:
    """A setting of real-time mode as a row."""
    return {
        "workload": each["workload"],
        "mode": each["mode"],
        "rate_per_s": each["rate_per_s"],
        "setting": each["setting"],
        "measured": each["measured"],
        "simulated": each["predicted"],
    }


def both_of(mean_s: float, p99_s: float) -> dict[str, float]:
    """A mean and a p99 by name."""
    return {"mean_s": round(mean_s, 4), "p99_s": round(p99_s, 4)}


def on_ten_nodes(name: str, profile: JobProfile) -> dict[str, Any]:
    """What the planner would do with ten nodes at the paper's rate, and how that would run."""
    rate, text = TEN_NODES[name]
    wanted = Wanted(parse_goal(text), Load(rate, 0.0))
    found = make_plan(space_of(profile, ("micro-batch",), NODE_CORES), wanted, NODES, rate)
    best = found.chosen or (found.nearest[0] if found.nearest else None)
    if best is None:
        return {"rate_per_s": rate, "goal": text, "feasible": False}
    at = min(rate, best.predicted.under.rate_per_s)
    ran = simulate(profile, best.candidate, Traffic(parse_rate(at)), 10.0)
    late = ran.latency(after_s=2.0)
    return {
        "goal": text,
        "paper_rate_per_s": rate,
        "feasible": found.chosen is not None,
        "plan": str(best.candidate),
        "rate_per_s": round(at),
        "foretold_mean_s": round(best.predicted.mean_s, 3),
        "simulated_mean_s": round(late.mean_s, 3),
        "simulated_p99_s": round(late.quantile(0.99), 3),
    }


def figures_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures by name."""
    if not rows:
        return {"settings": 0}
    errors = {
        name: [abs(row["simulated"][name] / row["measured"][name] - 1) for row in rows]
        for name in ("mean_s", "p99_s")
    }
    return {
        "settings": len(rows),
        "mean_error_median": round(float(np.median(errors["mean_s"])), 4),
        "p99_error_median": round(float(np.median(errors["p99_s"])), 4),
        "compared": rows,
    }


def table_of(rows: list[dict[str, Any]]) -> Table:
    """Every setting as a row."""
    table = Table("workload", "records/s", "setting", "mean", "simulated", "p99", "simulated")
    for row in rows:
        cells = [
            f"{row[side][name] * 1e3:,.3g} ms"
            for name in ("mean_s", "p99_s")
            for side in ("measured", "simulated")
        ]
        table.add_row(row["workload"], f"{row['rate_per_s']:,.0f}", row["setting"], *cells)
    return table

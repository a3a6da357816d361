"""Tables of what was foretold and what came, drawn from the raw figures under docs/results.

``python -m headway.benches.foretold.results docs/results docs/results.md`` draws them anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from headway.measure.costs.stores import STORE_NAMES

HIGHEST = ("promised_per_s", "plan_per_s", "way_per_s", "sweep_per_s")
HEAD = """# Results

Each table is drawn from the figures that a command left (`docs/results/`; `headway bench NAME
--report FOLDER`); a test sees that they are the same. Two cores, shared with other work.
"""


def draw(folder: Path) -> str:
    """The page."""
    parts = [HEAD]
    for name, section in SECTIONS.items():
        path = folder / f"{name}.json"
        if path.exists():
            parts.append(section(json.loads(path.read_text())))
    return "\n".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as Markdown has them.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def millis(seconds: float | None) -> str:
    """A latency for people."""
    if seconds is None:
        return "falls behind"
    return f"{seconds * 1e3:,.3g} ms" if seconds < 0.1 else f"{seconds:.3g} s"


def model_part(found: dict[str, Any]) -> str:
    """Modelled against measured (figures 6a to 6e of the paper)."""
    rows = [
        [
            each["workload"], each["mode"], each["setting"], f"{each['rate_per_s']:,.0f}",
            *(millis(each[side][name]) for name in ("mean_s", "p99_s")
              for side in ("measured", "predicted")),
        ]
        for each in found["compared"]
    ]  # fmt: skip
    head = ["workload", "mode", "setting", "records/s", "mean", "foretold", "p99", "foretold"]
    shown = next(each for each in found["compared"] if each["phases"])
    sides = shown["phases"]
    names = sorted(sides["measured"], key=lambda name: -sides["measured"][name])
    phases = [
        [name, millis(sides["measured"][name]), millis(sides["predicted"].get(name, 0.0))]
        for name in names
    ]
    return f"""
## The model: `headway bench model`

{found["settings"]} settings that no profile has seen (seed {found["seed"]});
{found["fell_behind"]} of them fell behind. The median error of the mean is
{found["mean_error_median"]:.1%}, {found["mean_within_15pct"]:.0%} of them within 15 %; of the p99
{found["p99_error_median"]:.1%}, {found["p99_within_20pct"]:.0%} within 20 %.
{ahead_of(found)}
{table(head, rows)}

![foretold over measured](results/model.svg)

Where the mean goes, for {shown["workload"]}, {shown["setting"]}, {shown["rate_per_s"]:,.0f}
records/s:

{table(["phase", "measured", "foretold"], phases)}
"""


def ahead_of(found: dict[str, Any]) -> str:
    """How far off it was without knowing how the host would be meanwhile, where that was asked."""
    if not (told := found.get("ahead")):
        return ""
    same = found["micro_batch"]
    return f"""
How fast the machine was is known from batches of another setting before and after each of the
{same["settings"]} in micro-batch, of which the errors are {same["mean_error_median"]:.1%} and
{same["p99_error_median"]:.1%} ({same["mean_within_15pct"]:.0%} and {same["p99_within_20pct"]:.0%}
within those limits). By those before alone, as whoever plans knows it, they are
{told["mean_error_median"]:.1%} and {told["p99_error_median"]:.1%}
({told["mean_within_15pct"]:.0%} and {told["p99_within_20pct"]:.0%}).
"""


def simulated_part(found: dict[str, Any]) -> str:
    """The simulated engine against Spark, and a cluster that is not here."""
    rows = [
        [
            each["workload"], each["mode"], each["setting"], f"{each['rate_per_s']:,.0f}",
            *(millis(each[side][name]) for name in ("mean_s", "p99_s")
              for side in ("measured", "simulated")),
        ]
        for each in found["compared"]
    ]  # fmt: skip
    figures = ("mean", "simulated", "p99", "simulated")
    head = ["workload", "mode", "setting", "records/s", *figures]
    nodes = [
        [
            name, each["goal"], f"{each.get('paper_rate_per_s', each['rate_per_s']):,.0f}",
            "yes" if each["feasible"] else "no", f"{each['rate_per_s']:,.0f}",
            each.get("plan", ""), millis(each.get("simulated_mean_s")),
        ]
        for name, each in found["ten_nodes"].items()
    ]  # fmt: skip
    asked = ["workload", "goal", "the paper's rate", "reached", "rate", "plan", "mean, simulated"]
    return f"""
## The simulated engine: `headway bench simulated`

{found["settings"]} settings on Spark and simulated from the same profile: the median error of the
mean is {found["mean_error_median"]:.1%}, of the p99 {found["p99_error_median"]:.1%}.

{table(head, rows)}

Ten nodes of four cores at the rates of the paper's evaluation:

{table(asked, nodes)}
"""


def thumb_part(found: dict[str, Any]) -> str:
    """The plan against rules of thumb (table 4 and figure 6i)."""
    parts = ["\n## Rules of thumb: `headway bench thumb`\n"]
    for name, each in found["workloads"].items():
        rows = [
            [who, f"{row['rate_per_s']:,.0f}", way_text(row), millis(row["measured_s"])]
            for who, kind in (("rule, at first", "first"), ("plan", "plans"), ("rule", "rules"))
            for row in sorted(each[kind], key=lambda r: (r["rate_per_s"], r["interval_s"]))
        ]  # fmt: skip
        promised = "promises" if each["promised"] else "does not promise"
        plan, rule = (upto(each[key]) for key in ("plan_rate", "best_rule_rate"))
        parts.append(
            f"{name}, {each['goal']}: the plan keeps it {plan}, the best rule {rule}. At "
            f"{each['rate_per_s']:,.0f} records/s, which the plan {promised}, "
            f"{each['rules_met']} of {each['rules_tried']} rules keep it at first.\n"
        )
        parts.append(table(["who", "records/s", "interval", "measured"], rows) + "\n")
    return "\n".join(parts)


def way_text(row: dict[str, Any]) -> str:
    """The time between batches, and where states rest if that was varied.

    >>> way_text({"interval_s": 0.5, "store": "memory"}), way_text({"interval_s": 1.0})
    ('0.5 s, memory', '1 s')
    """
    store = row.get("store")
    return f"{row['interval_s']:.3g} s" + (f", {STORE_NAMES[store]}" if store else "")


def upto(rate_per_s: float) -> str:
    """Up to which rate a goal was kept.

    >>> upto(12_345.6), upto(0.0)
    ('up to 12,346 records/s', 'at no rate of the race')
    """
    return f"up to {rate_per_s:,.0f} records/s" if rate_per_s else "at no rate of the race"


def plan_part(found: dict[str, Any]) -> str:
    """First plans against a sweep (figures 6f to 6h)."""
    rows = [
        [name, cell["goal"], f"{cell['rate_per_s']:,.0f}",
         cell["planned"] or "cannot be kept",
         millis(cell["measured_s"]) if cell["planned"] else "",
         ("yes" if cell["met"] else "no") if cell["planned"] else "",
         millis(cell["best_of_sweep_s"])]
        for name, each in found["workloads"].items()
        for cell in each["cells"]
    ]  # fmt: skip
    head = ["workload", "goal", "records/s", "planned", "measured", "met", "best of the sweep"]
    reached = [
        [name, each["goal"], *(f"{each['highest'][key]:,.0f}" for key in HIGHEST)]
        for name, each in found["workloads"].items()
        if each["highest"]
    ]
    rates = table(
        ["workload", "goal", "promised", "kept as promised", "kept by its way", "by any"], reached
    )
    return f"""
## First plans: `headway bench plan`

{found["cells"]} cells; the first plan kept {percent(found["met_first_time"])} of the goals that it
said could be kept, and {percent(found["infeasible_right"])} of the {found["refused"]} that it
refused were kept by no setting that was tried. Up to its highest rate (records/s), the plan reached
{percent(found["rate_vs_exhaustive"])} of what any setting of the sweep did; the way in which it
runs the flow would have reached {percent(found["way_vs_exhaustive"])}:

{rates}

{table(head, rows)}
"""


def percent(share: float | None) -> str:
    """A share for people.

    >>> percent(0.95), percent(None)
    ('95 %', 'none')
    """
    return "none" if share is None else f"{share * 100:.3g} %"


def loop_part(found: dict[str, Any]) -> str:
    """A run whose rate changes."""
    rows = [
        [f"{each['rate_per_s']:,.0f}", millis(each["p99_s"]), millis(each["interval_s_at_end"])]
        for each in found["steps"]
    ]
    said = [
        [f"{each['at_s']:g} s", f"{each['rate_per_s']:,.0f}", each["plan"], each["because"]]
        for each in found["decisions"]
    ]
    return f"""
## A rate that doubles and halves: `headway bench loop`

Goal {found["goal"]}; {found["changes"]} changes, {found["pendulum"]} of them back and forth;
{found["kept_share"]:.2%} of the records were in time after {found["warm_up_s"]:g} s of warm-up,
those next to a change left out.

{table(["records/s", "p99", "interval at the end"], rows)}

{table(["after", "records/s", "plan", "because"], said)}
"""


SECTIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "model": model_part,
    "plan": plan_part,
    "thumb": thumb_part,
    "simulated": simulated_part,
    "loop": loop_part,
}

if __name__ == "__main__":
    Path(sys.argv[2]).write_text(draw(Path(sys.argv[1])))

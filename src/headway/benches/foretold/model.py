"""How far the model's latencies lie from measured ones, on settings that it never saw."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from headway.benches.foretold.learned import MEASURED, PROFILED, workbenches
from headway.benches.foretold.steps import FASTEST, PROFILED_S, Setting, Step, learned_first
from headway.benches.foretold.streams import measure_streams, modelled
from headway.benches.foretold.workbench import Measured, foretell
from headway.benches.options import BenchOptions, progress
from headway.dashboard.draw.loglog import Curve, draw_curves
from headway.measure.costs.stores import STORES
from headway.model.prediction import Prediction
from headway.units import finite, format_duration
from headway.workloads.registry import Workload

SENTENCE = "Modelled against measured mean and p99, on settings that no profile has seen."
TIMES = (0.5, 1.0, 2.0, FASTEST)
INTERVALS_S = (0.0, 0.4, 0.8, 1.6)
READERS = (1, 2)
ROUNDS, ROUNDS_FULL = 1, 2  # of turns that a profile is made of
OF_EACH, OF_EACH_FULL = 3, 10  # settings of each workload


@dataclass(frozen=True, slots=True)
class Compared:
    """One setting: what was foretold, and what came."""

    workload: str
    mode: str
    setting: str
    rate_per_s: float
    predicted: dict[str, float]
    measured: dict[str, float]
    phases: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def kept_up(self) -> bool:
        """Whether the setting did not fall behind."""
        return bool(np.isfinite(list(self.measured.values())).all())

    def error(self, name: str) -> float:
        """How far the prediction was off, relative to what was measured; all where it fell behind.

        That a setting falls behind can be foretold, too, and is then no error.
        """
        if not self.kept_up:
            return float(np.isfinite(self.predicted[name]))
        return abs(self.predicted[name] / self.measured[name] - 1)

    def as_dict(self) -> dict[str, Any]:
        """The comparison by name."""
        return {
            "workload": self.workload, "mode": self.mode, "setting": self.setting,
            "rate_per_s": self.rate_per_s, "predicted": by_name(self.predicted),
            "measured": by_name(self.measured), "phases": self.phases,
        }  # fmt: skip


def run(options: BenchOptions) -> dict[str, Any]:
    """Learn each workload at one rate, foretell settings at others, and measure them."""
    chosen = drawn(options)
    steps = sum(len(settings) for settings in chosen.values())
    found, ahead = list[Compared](), list[Compared]()
    with progress(steps + 1, "settings") as bar:
        for name, bench in workbenches(chosen, options.quick):
            seconds, warm_s = (8.0, 3.0) if options.quick else (16.0, 5.0)
            wanted = [Step(setting, seconds, warm_s) for setting in chosen[name]]
            rounds = ROUNDS_FULL if options.full else ROUNDS
            plan = learned_first(wanted, PROFILED[name], rounds, options.quick)
            measured = bench.trial(plan)
            bar.advance(len(measured), note=f"{name} measured")
            for each in measured:
                found.append(compare(MEASURED[name], each, foretell(each.known, each.setting)))
                ahead.append(compare(MEASURED[name], each, foretell(each.ahead, each.setting)))
        if not options.quick:
            with TemporaryDirectory(prefix="headway-bench-") as place:
                found += [
                    Compared(**each)
                    for each in measure_streams(Path(place), options.full, modelled)
                ]
        bar.advance(note="real-time mode")
    # What was said before a setting was run, when nobody knew how the host would be meanwhile,
    # and of the same settings what is said with it.
    same = [each for each in found if each.mode == "micro-batch"]
    figures = figures_of(found)
    for key, part in (("micro_batch", same), ("ahead", ahead)):
        figures[key] = {n: value for n, value in figures_of(part).items() if n != "compared"}
    figures |= {"seed": options.seed, "profiled_rates": PROFILED}
    options.keep("model", figures)
    (options.report / "model.svg").write_text(plot([each for each in found if each.kept_up]))
    Console(stderr=True).print(table_of(found))
    return figures


def drawn(options: BenchOptions, of_each: int = OF_EACH) -> dict[str, list[Setting]]:
    """The settings to measure: some by chance, the highest rate among them.

    Of either store; in a run that is not whole, of one for each workload, which saves a warm-up.
    """
    chance, some = random.Random(options.seed), 2 if options.quick else of_each
    names = ["words"] if options.quick else list(PROFILED)
    found = {}
    for name in names:
        stores = STORES if options.full else (chance.choice(STORES),)
        every = [
            Setting(PROFILED[name] * times, interval, readers, store)
            for times, interval, readers, store in product(TIMES, INTERVALS_S, READERS, stores)
            if times != 1.0 or interval not in PROFILED_S  # those are learned from
        ]
        fast = [each for each in every if each.rate_per_s == PROFILED[name] * TIMES[-1]]
        count = OF_EACH_FULL if options.full else some
        picked = [chance.choice(fast)]
        picked += chance.sample([each for each in every if each not in picked], count - 1)
        found[name] = sorted(picked, key=lambda each: each.rate_per_s)
    return found


def compare(workload: Workload, seen: Measured, foretold: Prediction) -> Compared:
    """A setting as a comparison; of a windowed flow windows are what counts."""
    windows = "window" in workload.goal
    latency = seen.windows if windows else seen.records
    predicted = {
        "mean_s": foretold.window_mean_s if windows else foretold.mean_s,
        "p99_s": foretold.quantile_s(0.99, windows),
    }
    measured = {"mean_s": float("inf"), "p99_s": float("inf")}
    if latency.count and seen.kept_up:
        measured = {"mean_s": latency.mean_s, "p99_s": latency.quantile(0.99)}
    phases = {"predicted": rounded(foretold.phases_s), "measured": rounded(seen.phases_s)}
    both = rounded(predicted), rounded(measured)
    own = seen.setting
    return Compared(workload.name, "micro-batch", own.text, own.rate_per_s, *both, phases)


def by_name(seconds: Mapping[str, float]) -> dict[str, float | None]:
    """Times as JSON has them."""
    return {name: finite(each, 5) for name, each in seconds.items()}


def rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    """Times by name, to a tenth of a millisecond."""
    return {name: round(each, 4) for name, each in seconds.items()}


def figures_of(found: Sequence[Compared]) -> dict[str, Any]:
    """The figures by name."""
    if not found:
        return {"settings": 0}
    mean, p99 = (np.array([each.error(name) for each in found]) for name in ("mean_s", "p99_s"))
    return {
        "settings": len(found),
        "mean_error_median": round(float(np.median(mean)), 4),
        "mean_within_15pct": round(float((mean <= 0.15).mean()), 4),
        "p99_error_median": round(float(np.median(p99)), 4),
        "p99_within_20pct": round(float((p99 <= 0.20).mean()), 4),
        "fell_behind": sum(not each.kept_up for each in found),
        "compared": [each.as_dict() for each in found],
    }


def plot(found: Sequence[Compared]) -> str:
    """What was foretold over what was measured; what is right stands on the line."""
    mean, p99 = (
        tuple((each.measured[key] * 1e3, each.predicted[key] * 1e3) for each in found)
        for key in ("mean_s", "p99_s")
    )
    every = [value for point in mean + p99 for value in point]
    right = Curve("as measured", ((min(every), min(every)), (max(every), max(every))), dashed=True)
    dots = [Curve(name, points, dots=True) for name, points in (("mean", mean), ("p99", p99))]
    return draw_curves(
        [dots[0], right, dots[1]], "measured, ms", "foretold", lambda ms: f"{ms:g} ms"
    )


def table_of(found: Sequence[Compared]) -> Table:
    """Every setting as a row."""
    table = Table("workload", "mode", "setting", "records/s", "mean", "foretold", "p99", "foretold")
    for each in found:
        cells = [
            format_duration(float(f"{side[name]:.3g}")) if np.isfinite(side[name]) else "behind"
            for name in ("mean_s", "p99_s")
            for side in (each.measured, each.predicted)
        ]
        table.add_row(each.workload, each.mode, each.setting, f"{each.rate_per_s:,.0f}", *cells)
    return table

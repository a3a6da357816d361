"""Plots of what was foretold and what came, after figure 6 of paper 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway.dashboard.draw.loglog import Curve, draw_curves

AT_ONCE_S = 0.05  # where batches that follow at once stand on an axis that has no 0


def validity(workload: dict[str, Any]) -> str:
    """Which intervals keep the goal at which rates, and where the plan stands (6f to 6h)."""
    kinds: dict[str, Callable[[dict[str, Any]], bool]] = {
        "keeps the goal": lambda row: row["kept"] and not row["planned"],
        "misses it": lambda row: not row["kept"] and not row["planned"],
        "the plan, kept": lambda row: row["kept"] and row["planned"],
        "the plan, missed": lambda row: not row["kept"] and row["planned"],
    }
    curves = []
    for name, suits in kinds.items():
        points = tuple(place_of(row) for row in workload["measured"] if suits(row))
        # A colour serves two curves: one that has no points stands between two that have.
        curves += [Curve(name, points, dots=True), Curve("", ())]
    shown = [curve for curve in curves if curve.points or not curve.name]
    return draw_curves(shown, "records/s", f"interval, {workload['goal']}", lambda s: f"{s:g} s")


def place_of(row: dict[str, Any]) -> tuple[float, float]:
    """A setting as a point: its rate, and its interval."""
    return row["rate_per_s"], max(row["interval_s"], AT_ONCE_S)


def rivals(workload: dict[str, Any]) -> str:
    """Latency over the rate, of the plan and of each rule of thumb (6i)."""
    curves = [Curve("the plan", line_of(workload["plans"])), Curve("", ())]
    for every in sorted({row["interval_s"] for row in workload["rules"]}):
        own = [row for row in workload["rules"] if row["interval_s"] == every]
        curves.append(Curve(f"every {every:g} s", line_of(own), dashed=True))
    shown = [curve for curve in curves if curve.points or not curve.name]
    return draw_curves(shown, "records/s", workload["goal"], lambda s: f"{s:g} s")


def line_of(rows: list[dict[str, Any]]) -> tuple[tuple[float, float], ...]:
    """Settings that kept up, as points of a curve."""
    kept = [row for row in rows if row["measured_s"] is not None]
    return tuple((row["rate_per_s"], row["measured_s"]) for row in sorted(kept, key=rate_of))


def rate_of(row: dict[str, Any]) -> float:
    """What a curve is ordered by."""
    return float(row["rate_per_s"])

"""How soon are early answers good? Top-k precision, click-through rates under skew, rare groups."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headway.benches.early.curves import Lines, write_lines
from headway.benches.early.given import given
from headway.benches.options import BenchOptions, progress
from headway.early.sampling import Sampling
from headway.engine.early.ask import ask
from headway.engine.early.proving.made import made_table
from headway.engine.spark.session import open_session
from headway.workloads.progressive import (
    CLICK_THROUGH,
    MEAN_VISIT,
    REAL_CLICKS,
    REAL_FILES,
    SHOWN,
    Tables,
    top_correlated,
)

SENTENCE = "How early answers converge: top-k precision, click-through rates, rare groups."
TAKES_DATA = True
CUTS = (10, 50, 100)
SKEWS = (0.5, 1.5, 2.0, 4.0)  # how much faster impressions are processed than clicks
Rates = Mapping[int, float]


def run(options: BenchOptions) -> dict[str, Any]:
    """Ask the workloads of paper 5 early (section 5.3.8), and draw how the answers converge."""
    rows, points = (40_000, 10) if options.quick else (1_000_000, 50)
    asked = given(options, rows, REAL_FILES)
    with TemporaryDirectory(prefix="headway-convergence-") as place, progress(3, "asking") as bar:
        spark = open_session("local[2]")
        try:
            asked.name_in(spark)
            tables, folder = asked.tables, Path(place)
            top = precisions(folder, tables, points)
            bar.advance(note="top-k")
            errors = rate_errors(folder, tables, points)
            bar.advance(note="click-through rates")
            rare = rare_groups(folder, tables, points)
            bar.advance(note="rare groups")
        finally:
            spark.stop()
    drawn = write_lines(options.report / "convergence.html", [*top, *errors, *rare])
    fifth = max(0, points // 5 - 1)
    figures = {
        "precision_at_20_percent": at(top[0], fifth, 3),
        "ctr_error_at_20_percent": at(errors[0], fifth, 4),
        "groups_missing_at_20_percent": at(rare[0], fifth, 3),
        "group_error_at_20_percent": at(rare[1], fifth, 4),
        "data": asked.said,
        "points": points,
        "plots": drawn.name,
    }
    options.keep("convergence", figures)
    return figures


def at(plot: Lines, point: int, digits: int) -> dict[str, float]:
    """The values of a plot's lines at a point."""
    return {one.name: round(one.values[point], digits) for one in plot.curves}


def precisions(folder: Path, tables: Tables, points: int) -> list[Lines]:
    """The share of the final top k that each early top k has (figure 12a)."""
    by_user = Sampling("key", ("user",), points)
    stored = made_table(tables.searches, by_user, folder / "searches")
    found = [
        [row["word"] for row in answer.table.to_pylist()]
        for answer in ask(top_correlated(tables.word), {"searches": stored})
    ]
    lines = {f"k = {k}": [precision(one[:k], found[-1][:k]) for one in found] for k in CUTS}
    return [Lines.of("Precision of the top k correlated words", lines)]


def precision(early: Sequence[str], final: Sequence[str]) -> float:
    """Which part of the final ones is there already.

    >>> precision(["a", "b"], ["b", "c"])
    0.5
    """
    return len(set(early) & set(final)) / max(1, len(final))


def rate_errors(folder: Path, tables: Tables, points: int) -> list[Lines]:
    """The error of early rates, with progress and where one side runs ahead (figure 12b)."""
    by_user = Sampling("key", ("user",), points)
    stored = {
        "clicks": made_table(tables.clicks, by_user, folder / "clicks"),
        "impressions": made_table(tables.impressions, by_user, folder / "impressions"),
    }
    told = [rates_of(answer.table.to_pylist()) for answer in ask(CLICK_THROUGH, stored)]
    final = told[-1]
    lines = {"with progress": [mean_error(one, final) for one in told]}
    counts = {
        name: [
            {row["ad"]: float(row["n"]) for row in answer.table.to_pylist()}
            for answer in ask(sql, {name: stored[name]})
        ]
        for name, sql in (("clicks", REAL_CLICKS), ("impressions", SHOWN))
    }
    for skew in SKEWS:
        ahead = [min(points - 1, round((n + 1) * skew) - 1) for n in range(points)]
        apart = [
            quotients(counts["clicks"][n], counts["impressions"][max(0, m)])
            for n, m in enumerate(ahead)
        ]
        lines[f"without, skew {skew:g}"] = [mean_error(one, final) for one in apart]
    return [Lines.of("Relative error of click-through rates", lines)]


def rates_of(rows: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    return {row["ad"]: float(row["rate"]) for row in rows}


def quotients(above: Rates, below: Rates) -> dict[int, float]:
    return {key: above[key] / below[key] for key in above if below.get(key)}


def mean_error(early: Rates, final: Rates) -> float:
    """How far early values are from the final ones, on average; one that is missing is all wrong.

    >>> mean_error({1: 0.5}, {1: 1.0, 2: 2.0})
    0.75
    """
    return statistics.fmean(
        abs(early[key] - value) / abs(value) if key in early else 1.0
        for key, value in final.items()
        if value
    )


def rare_groups(folder: Path, tables: Tables, points: int) -> list[Lines]:
    """Groups of unlike sizes under uniform and under stratified sampling."""
    ways = {
        "uniform": Sampling("row", (), points),
        "stratified": Sampling("strata", ("country",), points, least=3),
    }
    missing, errors = {}, {}
    for name, sampling in ways.items():
        stored = made_table(tables.visits, sampling, folder / name)
        told = [
            {row["country"]: row["mean"] for row in answer.table.to_pylist()}
            for answer in ask(MEAN_VISIT, {"visits": stored})
        ]
        missing[name] = [1 - len(one) / len(told[-1]) for one in told]
        errors[name] = [mean_error(one, told[-1]) for one in told]
    return [
        Lines.of("Groups that are missing", missing),
        Lines.of("Relative error of the groups' means", errors),
    ]

"""What progress that follows the key saves: groups that are done are forgotten (paper 5, 2.6)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headway.benches.early.early import ratio
from headway.benches.options import Bar, BenchOptions, progress
from headway.early.sampling import Sampling
from headway.engine.early.proving.library import Library, growing
from headway.engine.early.proving.memory import Footprint, footprint_of
from headway.engine.early.proving.race import Race
from headway.engine.spark.session import open_session
from headway.errors import RunError
from headway.workloads.tpch.data import make_tables
from headway.workloads.tpch.queries import BY_ORDER, Q3_GENERAL

SENTENCE = "TPC-H Q3 without filters: progress that follows its key, against one that does not."
POINTS = 10
# Java compiles what it has run often enough, and plans cost as much over few tuples as over many:
# both ways that are timed are run so often over few before anything is measured, and then a few
# times at each scale, the smallest last: there a job is the shortest, and a slow Java shows most.
WARM_SCALE, WARM_UP, WARMED_UP = 0.05, 20, 4
PAGE = "256k"  # operators take memory by the page, and the usual 64 MB would hide what they hold


def by_row(_column: str, points: int) -> Sampling:
    """Each tuple by itself, whatever its key."""
    return Sampling("row", (), points)


def run(options: BenchOptions) -> dict[str, Any]:
    """Ask the same question of both kinds of progress, at several scales, and in full."""
    scales = [0.02, 0.05] if options.quick else [0.5, 1.0, 2.0]
    warm_up, warmed_up = (1, 0) if options.quick else (WARM_UP, WARMED_UP)
    repeats = options.repeats or (1 if options.quick else 3)
    rows: dict[str, dict[str, Any]] = {}
    steps = warm_up + len(scales) * (warmed_up + 2 * repeats + 1)
    with progress(steps, "scales") as bar:
        turns = [(WARM_SCALE, (warm_up, 0))]
        turns += [(scale, (warmed_up, repeats)) for scale in reversed(scales)]
        for scale, rounds in turns:
            with TemporaryDirectory(prefix="headway-memory-") as place:
                found = at_scale(Path(place), scale, rounds, bar)
            if found is not None:
                rows[f"{scale:g}"] = found
    figures = figures_of(dict(reversed(rows.items()))) | {"points": POINTS, "repeats": repeats}
    figures |= {"warm_up_asks": [warm_up, warmed_up]}
    options.keep("early_memory", figures)
    return figures


def at_scale(place: Path, scale: float, rounds: tuple[int, int], bar: Bar) -> dict[str, Any] | None:
    """Both ways that are timed, by turns, some rounds to warm up and some that count, if any.

    The third way takes many times as long, and only its memory is held against anything: once.
    """
    warm_up, repeats = rounds
    files = make_tables(place / "tables", scale)
    spark = open_session("local[2]", {"spark.driver.memory": "8g", "spark.buffer.pageSize": PAGE})
    try:
        race = Race(spark, files)
        library = Library(spark, place / "annotated", {name: files[name] for name in BY_ORDER})
        followed = library.open(BY_ORDER, POINTS, growing)
        for _ in range(warm_up):
            race.in_full(Q3_GENERAL)
            footprint_of(race, Q3_GENERAL, followed, POINTS)
            bar.advance(note=f"warming up at scale {scale:g}")
        if not repeats:
            return None
        apart = library.open(BY_ORDER, POINTS, by_row)
        full, kept = list[float](), list[Footprint]()
        for _ in range(repeats):
            full.append(race.in_full(Q3_GENERAL))
            bar.advance(note=f"scale {scale:g} in full")
            kept.append(footprint_of(race, Q3_GENERAL, followed, POINTS))
            bar.advance(note=f"scale {scale:g} by key")
        # A job for each point: one of many would hold more still.
        lost = footprint_of(race, Q3_GENERAL, apart, POINTS, chunk=1)
        bar.advance(note=f"scale {scale:g} by row")
    finally:
        spark.stop()
    if kept[-1].last != lost.last:
        raise RunError("both kinds of progress must come to the same last answer, and did not")
    return row_of(scale, full, kept, lost)


def row_of(
    scale: float, full: list[float], kept: list[Footprint], lost: Footprint
) -> dict[str, Any]:
    """One scale's figures."""
    full_s = statistics.median(full)
    by_key_s = statistics.median(one.total_s for one in kept)
    return {
        "full_s": round(full_s, 2),
        "by_key_s": round(by_key_s, 2),
        "by_key_s_per_scale": round(by_key_s / scale, 3),
        "by_row_s": round(lost.total_s, 2),
        "by_key_peak_bytes": max(one.peak_bytes for one in kept),
        "by_row_peak_bytes": lost.peak_bytes,
        "time_ratio": ratio([one.total_s for one in kept], full),
        "chunks": kept[-1].chunks,
    }


def figures_of(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The worst of peak state and time, and how far they move between scales.

    `flat_within` is about the time for as many tuples (paper 5, figure 11 f), `ratio_flat_within`
    about the time against the full query, whose own time grows faster than its tables do:
    it counts when a larger scale does better, too, `ratio_grows_within` only when it does worse.
    """
    shares = [row["by_key_peak_bytes"] / max(1, row["by_row_peak_bytes"]) for row in rows.values()]
    ratios = [row["time_ratio"] for row in rows.values()]
    times = [row["by_key_s_per_scale"] for row in rows.values()]
    return {
        "peak_state_ratio": round(max(shares), 3),
        "time_ratio_worst": max(ratios),
        "flat_within": round(max(times) / min(times), 3),
        "ratio_flat_within": round(max(ratios) / min(ratios), 3),
        "ratio_grows_within": round(most_growth(ratios), 3),
        "state_flat_within": round(max(shares) / max(min(shares), 1e-9), 3),
        "scales": dict(rows),
    }


def most_growth(ratios: Sequence[float]) -> float:
    """How many times higher a ratio is than one at a smaller scale, at most.

    >>> most_growth([1.0, 0.5, 0.75]), most_growth([1.0, 0.5])
    (1.5, 1.0)
    """
    found = (b / a for n, a in enumerate(ratios) for b in ratios[n + 1 :])
    return max(1.0, *found)

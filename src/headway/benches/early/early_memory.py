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
# Plans cost as much over few tuples as over many, and Java compiles for minutes what plans are made
# by: half a core-second in each ask still after sixty of them, which is a tenth of an ask at the
# smallest scale and nothing at the largest. So early answers over few tuples are asked for so often
# before anything is measured, and every so often the full query beside them.
WARM_SCALE, WARM_UP, IN_FULL = 0.05, 180, 2
# Then the scales follow each other in one Spark, there and back, so that a slow minute of the host
# meets more than one of them, the largest first, for Java compiles some more over many tuples. Of
# each visit a round is left out, in which files come back into memory; those that count take about
# as long at each scale, for short ones are the noisiest.
VISITS, LEFT_OUT, TUPLES = 3, 1, 2.0
TABLES = tuple(BY_ORDER)
PAGE = "256k"  # operators take memory by the page, and the usual 64 MB would hide what they hold


def by_row(_column: str, points: int) -> Sampling:
    """Each tuple by itself, whatever its key."""
    return Sampling("row", (), points)


def run(options: BenchOptions) -> dict[str, Any]:
    """Ask the same question of both kinds of progress, at several scales, and in full."""
    scales = [0.02, 0.05] if options.quick else [0.5, 1.0, 2.0]
    warm_up, left_out = (0, 0) if options.quick else (WARM_UP, LEFT_OUT)
    visits = 1 if options.quick else options.repeats or VISITS
    rounds = {scale: 1 if options.quick else rounds_at(scale) for scale in scales}
    steps = warm_up + visits * sum(left_out + count for count in rounds.values()) + len(scales)
    with (
        TemporaryDirectory(prefix="headway-memory-") as place,
        progress(steps, "scales") as bar,
    ):
        # The tables are made first: the process that makes them is gone when anything is timed.
        places = {scale: Path(place) / f"{scale:g}" for scale in scales}
        files = {scale: make_tables(folder, scale, TABLES) for scale, folder in places.items()}
        conf = {"spark.driver.memory": "8g", "spark.buffer.pageSize": PAGE}
        spark = open_session("local[2]", conf)
        try:
            contests = {
                scale: Contest(Race(spark, found), places[scale], found, bar)
                for scale, found in files.items()
            }
            if warm_up:
                few = Path(place) / f"{WARM_SCALE:g}"
                small = make_tables(few, WARM_SCALE, TABLES)
                Contest(Race(spark, small), few, small, bar).warm_up(warm_up)
            for turn in range(visits):
                for scale in scales if turn % 2 else reversed(scales):
                    contests[scale].visit(left_out, rounds[scale])
            rows = {f"{scale:g}": contest.row() for scale, contest in contests.items()}
        finally:
            spark.stop()
    figures = figures_of(rows) | {"points": POINTS, "visits": visits}
    figures |= {"warm_up_asks": [warm_up, left_out]}
    options.keep("early_memory", figures)
    return figures


def rounds_at(scale: float) -> int:
    """How many rounds of a visit count: at each scale about as many tuples in all.

    >>> [rounds_at(scale) for scale in (0.5, 1.0, 2.0)]
    [4, 2, 1]
    """
    return max(1, round(TUPLES / scale))


class Contest:
    """One scale: the two ways that are timed, by turns, and the memory of the third.

    That one takes many times as long, and only its memory is held against anything: once.
    """

    def __init__(self, race: Race, place: Path, files: Mapping[str, Path], bar: Bar) -> None:
        self._race, self._scale, self._bar = race, float(place.name), bar
        self._library = Library(race.spark, place / "annotated", files)
        self._followed = self._library.open(BY_ORDER, POINTS, growing)
        self._full: list[float] = []
        self._kept: list[Footprint] = []

    def warm_up(self, asks: int) -> None:
        """Ask so often for early answers, and now and then in full."""
        for done in range(asks):
            self._race.early(Q3_GENERAL, self._followed, POINTS)
            if done % IN_FULL == 0:
                self._race.in_full(Q3_GENERAL)
            self._bar.advance(note="warming up")

    def visit(self, left_out: int, rounds: int) -> None:
        """In full, and early with progress that follows the key; only later rounds count."""
        for done in range(left_out + rounds):
            full_s = self._race.in_full(Q3_GENERAL)
            kept = footprint_of(self._race, Q3_GENERAL, self._followed, POINTS)
            if done >= left_out:
                self._full.append(full_s)
                self._kept.append(kept)
            self._bar.advance(note=f"scale {self._scale:g} in full and by key")

    def row(self) -> dict[str, Any]:
        """Its figures, with those of progress that does not follow the key."""
        apart = self._library.open(BY_ORDER, POINTS, by_row)
        # A job for each point: one of many would hold more still.
        lost = footprint_of(self._race, Q3_GENERAL, apart, POINTS, chunk=1)
        self._bar.advance(note=f"scale {self._scale:g} by row")
        if self._kept[-1].last != lost.last:
            raise RunError("both kinds of progress must come to the same last answer, and did not")
        return row_of(self._scale, self._full, self._kept, lost)


def row_of(
    scale: float, full: list[float], kept: list[Footprint], lost: Footprint
) -> dict[str, Any]:
    """One scale's figures."""
    full_s = statistics.median(full)
    by_key_s = statistics.median(one.total_s for one in kept)
    return {
        "rounds": len(full),
        "full_s": round(full_s, 2),
        "by_key_s": round(by_key_s, 2),
        "by_key_s_spread": [round(pick(one.total_s for one in kept), 2) for pick in (min, max)],
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

"""What it is worth that the stages of a pipeline run at once and hand over point by point."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headway.benches.early.early import ratio
from headway.benches.early.given import given
from headway.benches.options import Bar, BenchOptions, progress
from headway.clock import SystemClock
from headway.early.sampling import Sampling
from headway.engine.early.proving.made import made_table
from headway.engine.early.proving.pipeline import Ran, ThreeStages
from headway.engine.spark.session import open_session
from headway.errors import RunError
from headway.workloads.progressive import PER_AD, PER_USER, RATES, Tables, made_tables

SENTENCE = "Click-through rates by three jobs: stages at once, against one after the other."
TAKES_DATA = True
# Java compiles what Spark plans and runs for each small job, on the cores that jobs want, for the
# first dozens of times: until then all ways are as slow as that. How often it was run counts, and
# not over how many rows, so most of it is over few. A round is a few seconds, and the host is never
# the same for two of them.
ROWS, FEW, POINTS = 40_000_000, 400_000, 10
WARM_UP, WHOLE, REPEATS = 25, 3, 9
WAYS = ("at once", "at once, on disk", "in turn")
STAGES = (("per_user", PER_USER), ("per_ad", PER_AD), ("rates", RATES))


def run(options: BenchOptions) -> dict[str, Any]:
    """All ways by turns, after they are warm (paper 5, 3.3 and 5.3.5)."""
    repeats = options.repeats or (1 if options.quick else REPEATS)
    few, whole = (1, 0) if options.quick else (WARM_UP, WHOLE)
    points = 4 if options.quick else POINTS
    bar_of = progress(1 + few + whole + 4 * (repeats + 1), "stages")
    asked = given(options, FEW if options.quick else ROWS, ("impressions",))
    with TemporaryDirectory(prefix="headway-stages-") as place, bar_of as bar:
        spark = open_session("local[2]", {"spark.driver.memory": "8g"})
        try:
            asked.name_in(spark)
            pipeline = pipeline_over(asked.tables, points, Path(place) / "all")
            warming = pipeline
            if options.data is None and not options.quick:
                warming = pipeline_over(made_tables(FEW), points, Path(place) / "few")
            bar.advance(note="tables")
            for one in [warming] * few + [pipeline] * whole:
                warm(one, Path(place))
                bar.advance(note="warming up")
            rounds = [one_round(pipeline, Path(place), bar, n) for n in range(repeats + 1)]
        finally:
            spark.stop()
    figures = figures_of(rounds[1:]) | {"data": asked.said, "points": points, "repeats": repeats}
    figures |= {"warm_up_rounds": whole + 1, "warm_up_rounds_over_few": few}
    options.keep("stages", figures)
    return figures


def pipeline_over(tables: Tables, points: int, folder: Path) -> ThreeStages:
    """The three questions over tables that grow by user."""
    by_user = Sampling("key", ("user",), points)
    return ThreeStages(
        STAGES,
        {
            "clicks": made_table(tables.clicks, by_user, folder / "clicks"),
            "impressions": made_table(tables.impressions, by_user, folder / "shown"),
        },
        SystemClock(),
    )


def warm(pipeline: ThreeStages, place: Path) -> None:
    """Every way once, and what their first answers are held against."""
    pipeline.first_stage_s()
    for way in WAYS:
        one_way(pipeline, place, way)


def one_way(pipeline: ThreeStages, place: Path, way: str) -> Ran:
    """The pipeline in one way: without a folder, or with one that is gone afterwards."""
    if way == "at once":
        return pipeline.timed()
    found = pipeline.timed(place / way, at_once=way != "in turn")
    shutil.rmtree(place / way)
    return found


def one_round(pipeline: ThreeStages, place: Path, bar: Bar, n: int) -> dict[str, Any]:
    """Each way once, who was first being last the next time; all must give the same answers."""
    alone_s = pipeline.first_stage_s()
    bar.advance(note="first stage alone")
    ways: dict[str, Ran] = {}
    for way in WAYS[:: -1 if n % 2 else 1]:
        ways[way] = one_way(pipeline, place, way)
        bar.advance(note=way)
    if len({ran.fingerprints for ran in ways.values()}) > 1:
        raise RunError("the ways of running a pipeline gave unlike answers")
    return {"alone_s": alone_s, **ways}


def figures_of(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians of the rounds, each ratio taken within its round."""
    firsts = [one["at once"].first_s for one in rounds]
    totals = {way: [one[way].total_s for one in rounds] for way in WAYS}
    return {
        "first_answer_vs_first_stage": ratio(firsts, [one["alone_s"] for one in rounds]),
        "at_once_vs_in_turn": ratio(totals["at once"], totals["in turn"]),
        "at_once_on_disk_vs_in_turn": ratio(totals["at once, on disk"], totals["in turn"]),
        "first_answer_s": round(statistics.median(firsts), 2),
        "first_stage_s": round(statistics.median(one["alone_s"] for one in rounds), 2),
        "total_s": {name: round(statistics.median(one), 2) for name, one in totals.items()},
        "in_turn_first_answer_s": round(
            statistics.median(one["in turn"].first_s for one in rounds), 2
        ),
        "spread": [round(one["at once"].total_s / one["in turn"].total_s, 3) for one in rounds],
    }

"""Are early answers exact, and the same each time? Each point against a batch over its tuples."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headway.benches.early.questions import Question, all_questions
from headway.benches.early.sequences import WAYS, Wish, sequences_of
from headway.benches.options import Bar, BenchOptions, progress
from headway.early.sampling import Sampling
from headway.engine.early.ask import ask
from headway.engine.early.proving.exactness import check_points
from headway.engine.early.proving.library import Library, growing, mixed
from headway.engine.early.proving.oracle import register_functions
from headway.engine.spark.session import open_session
from headway.workloads.tpch.data import make_tables
from headway.workloads.tpch.queries import NAMES

SENTENCE = "Early answers at every point, against batch queries over the same tuples."
Way = Callable[[str, int], Sampling]
BEYOND_TPCH, AGAIN = 30, 10  # questions beyond TPC-H's, and questions to be asked again
QUICK, QUICK_POINTS = 3, 4  # questions of a quick run, one of which is asked again in two ways


def run(options: BenchOptions) -> dict[str, Any]:
    """Ask every question of tuples that stay and of tuples that leave, and check each point.

    Then ask again in other ways, half of them of tuples that leave: with one core, in other chunks,
    and killed and resumed. A default run asks all of TPC-H's questions and draws some of those
    beyond it, the kind of tuples for each, and some to be asked again; `--full` does everything,
    and a quick one draws a few.
    """
    points = QUICK_POINTS if options.quick else 20
    chance = random.Random(options.seed)
    questions = asked_of(options, chance)
    with TemporaryDirectory(prefix="headway-exact-") as place:
        folder = Path(place)
        tables = make_tables(folder / "tables", 0.002 if options.quick else 0.01)
        spark = open_session("local[2]")
        try:
            register_functions(spark)
            library = Library(spark, folder / "annotated", tables)
            asked = [(q, way) for q in questions for way in ways(chance, options.full)]
            with progress(len(asked), "questions") as bar:
                wrong = exactly([(q, way, points) for q, way in asked], library, bar)
        finally:
            spark.stop()
        some = 1 if options.quick else AGAIN
        again = questions if options.full else chance.sample(questions, some)
        how = WAYS[:2] if options.quick else WAYS
        leaving = chance.sample([one.name for one in again], len(again) // 2)
        wish = Wish(again, folder, points, options.seed, frozenset(leaving), how)
        differ = sequences_of(wish)
    figures = {
        "points_checked": len(asked) * points,
        "wrong": len(wrong),
        "sequences_differ": differ.differ,
        "questions": len(questions),
        "sequences": differ.sequences,
        "kills": differ.kills,
        "recomputed": sorted(differ.recomputed),
        "which_wrong": wrong[:10],
        "seed": options.seed,
    }
    options.keep("exact", figures)
    return figures


def asked_of(options: BenchOptions, chance: random.Random) -> list[Question]:
    """The questions of a run, in their order."""
    every = all_questions()
    if options.full:
        return every
    if options.quick:
        return chance.sample(every, QUICK)
    own = [one for one in every if one.name in NAMES]
    drawn = chance.sample([one for one in every if one not in own], BEYOND_TPCH)
    return [one for one in every if one in own or one in drawn]


def ways(chance: random.Random, full: bool) -> list[Way]:
    """Tuples that stay, tuples of which some leave, or both."""
    if full:
        return [growing, mixed]
    return [chance.choice([growing, mixed])]


def exactly(asked: list[tuple[Question, Way, int]], library: Library, bar: Bar) -> list[str]:
    """What was found wrong: the question, the point and the difference."""
    wrong: list[str] = []
    for question, way, points in asked:
        tables = library.open(question.keys, points, way)
        asking = ask(question.sql, tables)
        for point, difference in check_points(asking, question.checked_by):
            wrong.append(f"{question.name}, {way.__name__}, point {point}: {difference}")
        bar.advance(note=question.name)
    return wrong

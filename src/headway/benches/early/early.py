"""How much sooner is the first answer, and what do all of them cost? Against the full query."""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headway.benches.options import Bar, BenchOptions, progress
from headway.engine.early.proving.library import Library, swelling
from headway.engine.early.proving.race import Race, Timed
from headway.engine.spark.session import open_session
from headway.workloads.tpch.data import make_tables
from headway.workloads.tpch.queries import KEYS, NAMES, query

SENTENCE = "TPC-H early at 10 and at 100 points, against the full query on the same Spark."
FEW, MANY = 10, 100  # points; tables are annotated for each
# Spark plans each question anew, and Java is quick at it once it has done so many times: before
# anything is timed, each question is asked so often for its first answer.
WARM_UP = 5


def run(options: BenchOptions) -> dict[str, Any]:
    """Time each query in full and early, by turns and warm; a default run draws some queries."""
    chance = random.Random(options.seed)
    names = list(NAMES) if options.full else sorted(chance.sample(NAMES, 2 if options.quick else 7))
    scale, repeats = (0.1, 1) if options.quick else (1.0, options.repeats or 2)
    with TemporaryDirectory(prefix="headway-early-") as place:
        files = make_tables(Path(place) / "tables", scale)
        spark = open_session("local[2]", {"spark.driver.memory": "6g"})
        try:
            library = Library(spark, Path(place) / "annotated", files)
            race = Race(spark, files)
            steps = len(names) * (1 + 3 * (repeats + 1) + 1)
            with progress(steps, "early answers") as bar:
                contests = [Contest(name, race, library, bar) for name in names]
                for contest in contests:
                    contest.warm_up()
                for _ in range(repeats + 1):
                    for contest in contests:
                        contest.take_turns()
                rows = {contest.name: contest.row() for contest in contests}
        finally:
            spark.stop()
    figures = figures_of(rows) | {"scale": scale, "repeats": repeats, "seed": options.seed}
    figures |= {"warm_up_asks": WARM_UP + 1}
    options.keep("early", figures)
    return figures


class Contest:
    """One query in all ways, by turns; the first round, in which all warm up, is left out."""

    def __init__(self, name: str, race: Race, library: Library, bar: Bar) -> None:
        self.name, self._race, self._bar = name, race, bar
        self._sql = query(name)
        self._tables = {n: library.open(KEYS[name], n, swelling) for n in (FEW, MANY)}
        self._full: list[float] = []
        self._few: list[Timed] = []
        self._many: list[Timed] = []

    def warm_up(self) -> None:
        """Ask it some times for its first answer."""
        for _ in range(WARM_UP):
            self._race.first(self._sql, self._tables[FEW], FEW)
        self._bar.advance(note=f"warming up {self.name}")

    def take_turns(self) -> None:
        """Ask it once in each way."""
        self._full.append(self._race.in_full(self._sql))
        self._bar.advance(note=f"{self.name} in full")
        self._few.append(self._race.early(self._sql, self._tables[FEW], FEW))
        self._bar.advance(note=f"{self.name} at {FEW} points")
        self._many.append(self._race.early(self._sql, self._tables[MANY], MANY))
        self._bar.advance(note=f"{self.name} at {MANY} points")

    def row(self) -> dict[str, Any]:
        """Its figures, with what it costs to ask again at each point, which is measured once."""
        again_s = self._race.again_at_each_point(self._sql, self._tables[FEW], FEW)
        self._bar.advance(note=f"{self.name} again at each point")
        full, few, many = self._full[1:], self._few[1:], self._many[1:]
        total_s = statistics.median(one.total_s for one in few)
        return {
            "full_s": round(statistics.median(full), 2),
            "first_s": round(statistics.median(one.first_s for one in few), 2),
            "total_s": round(total_s, 2),
            "first_sooner": ratio(full, [one.first_s for one in few]),
            "total_cost": ratio([one.total_s for one in few], full),
            "total_cost_100": ratio([one.total_s for one in many], full),
            "first_sooner_100": ratio(full, [one.first_s for one in many]),
            "cheaper_than_again": round(again_s / total_s, 2),
            "chunks": [[one.chunk.first, one.chunk.last] for one in few[-1].spent],
        }


def ratio(above: list[float], below: list[float]) -> float:
    """The typical ratio of times that were measured side by side."""
    return round(statistics.median(a / b for a, b in zip(above, below, strict=True)), 3)


def figures_of(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The figures over all queries, and each query's own."""

    def over(name: str) -> list[float]:
        return [row[name] for row in rows.values()]

    return {
        "first_sooner_median": round(statistics.median(over("first_sooner")), 2),
        "total_cost_median": round(statistics.median(over("total_cost")), 3),
        "total_cost_worst": max(over("total_cost")),
        "total_cost_100_median": round(statistics.median(over("total_cost_100")), 3),
        "cheaper_than_again_median": round(statistics.median(over("cheaper_than_again")), 2),
        "cheaper_than_again_worst": min(over("cheaper_than_again")),
        "queries": rows,
    }

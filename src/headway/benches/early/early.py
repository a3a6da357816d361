"""How much sooner is the first answer, and what do all of them cost? Against the full query."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headway.benches.options import Bar, BenchOptions, progress
from headway.engine.early.proving.library import Library, beginning_small
from headway.engine.early.proving.race import Race, Timed
from headway.engine.spark.session import open_session
from headway.workloads.tpch.data import make_tables
from headway.workloads.tpch.queries import KEYS, NAMES, query

SENTENCE = "TPC-H early at 10 and at 100 points, against the full query on the same Spark."
FEW, MANY = 10, 100  # points; tables are annotated for each
# Spark plans each question anew, and Java is quick at it once it has done so many times: before
# anything is timed, each question is asked so often for its first answer.
WARM_UP = 4
# And then so many times in each way: later chunks are other plans than the first.
LEFT_OUT = 1
DRAWN = 4  # queries that a default run asks at many points, too, and again at each of few
# Among 22 questions by turns a short one stays cold (Java compiles for seconds after each), and the
# highest of 22 ratios is that of the noisiest. Where all answers cost so many times the full query
# or more in the last turn, both are asked by themselves: some rounds to warm up, then so many that
# count, alone.
DEAR, WARMED, ALONE = 1.5, 2, 5


def run(options: BenchOptions) -> dict[str, Any]:
    """Time each query in full and early, by turns and warm.

    At many points, and asked again at each, a default run has some that are drawn.
    """
    chance = random.Random(options.seed)
    names = sorted(chance.sample(NAMES, 2)) if options.quick else list(NAMES)
    drawn = names if options.full or options.quick else sorted(chance.sample(NAMES, DRAWN))
    scale, repeats = (0.1, 1) if options.quick else (1.0, options.repeats or 1)
    with TemporaryDirectory(prefix="headway-early-") as place:
        files = make_tables(Path(place) / "tables", scale)
        spark = open_session("local[2]", {"spark.driver.memory": "6g"})
        try:
            library = Library(spark, Path(place) / "annotated", files)
            race = Race(spark, files)
            turns = repeats + LEFT_OUT
            steps = len(names) * (2 + 2 * turns) + len(drawn) * (turns + 1)
            with progress(steps, "early answers") as bar:
                contests = [Contest(name, race, library, bar, name in drawn) for name in names]
                for contest in contests:
                    contest.warm_up()
                for _ in range(turns):
                    for contest in contests:
                        contest.take_turns()
                for contest in contests:
                    if contest.cost(turns - 1) >= DEAR and not options.quick:
                        contest.by_itself()
                    bar.advance(note=f"{contest.name} by itself, if it was dear")
                rows = {contest.name: contest.row(LEFT_OUT, options.full) for contest in contests}
        finally:
            spark.stop()
    figures = figures_of(rows) | {"scale": scale, "repeats": repeats, "seed": options.seed}
    figures |= {"warm_up_asks": WARM_UP + LEFT_OUT, "warm_up_alone": WARMED}
    figures |= {"first_share": contests[0].first_share}
    # What it takes once to lay tables out, before anything can be asked early of them.
    figures |= {"annotating_s": {n: round(s, 1) for n, s in library.annotating_s.items()}}
    options.keep("early", figures)
    return figures


@dataclass(frozen=True, slots=True)
class Round:
    """One query in full, and early at few points right after."""

    full_s: float
    few: Timed


class Contest:
    """One query in all ways, by turns; the first rounds, in which all warm up, are left out."""

    def __init__(self, name: str, race: Race, library: Library, bar: Bar, drawn: bool) -> None:
        self.name, self._race, self._bar, self._drawn = name, race, bar, drawn
        self._sql = query(name)
        points = (FEW, MANY) if drawn else (FEW,)
        self._tables = {n: library.open(KEYS[name], n, beginning_small) for n in points}
        self._turns: list[Round] = []
        self._alone: list[Round] = []
        self._many: list[Timed] = []

    def warm_up(self) -> None:
        """Ask it some times for its first answer."""
        for _ in range(WARM_UP):
            self._race.first(self._sql, self._tables[FEW], FEW)
        self._bar.advance(note=f"warming up {self.name}")

    def _round(self) -> Round:
        """In full, and at few points."""
        full_s = self._race.in_full(self._sql)
        return Round(full_s, self._race.early(self._sql, self._tables[FEW], FEW))

    def by_itself(self) -> None:
        """Ask it in full and at few points round after round, and count those that are warm."""
        self._alone = [self._round() for _ in range(WARMED + ALONE)][WARMED:]

    def take_turns(self) -> None:
        """Ask it once in each way."""
        self._turns.append(self._round())
        self._bar.advance(2, note=f"{self.name} in full and at {FEW} points")
        if not self._drawn:
            return
        self._many.append(self._race.early(self._sql, self._tables[MANY], MANY))
        self._bar.advance(note=f"{self.name} at {MANY} points")

    @property
    def first_share(self) -> float:
        """The part of the tuples that is in at the first of few points."""
        moving = [one for one in self._tables[FEW].values() if one.points > 1]
        return round(sum(one.entering[0] for one in moving) / sum(one.rows for one in moving), 4)

    def _counted(self, left_out: int) -> list[Round]:
        return self._alone or self._turns[left_out:]

    def cost(self, left_out: int) -> float:
        """What all answers at few points cost, in times of the full query."""
        rounds = self._counted(left_out)
        return ratio(*self._both(rounds))

    @staticmethod
    def _both(rounds: list[Round]) -> tuple[list[float], list[float]]:
        """What all answers took in each round, and the full query."""
        return [one.few.total_s for one in rounds], [one.full_s for one in rounds]

    def row(self, left_out: int, whole: bool) -> dict[str, Any]:
        """Its figures."""
        rounds = self._counted(left_out)
        full = [one.full_s for one in rounds]
        total_s = statistics.median(one.few.total_s for one in rounds)
        found = {
            "full_s": round(statistics.median(full), 2),
            "first_s": round(statistics.median(one.few.first_s for one in rounds), 2),
            "total_s": round(total_s, 2),
            "first_sooner": ratio(full, [one.few.first_s for one in rounds]),
            "total_cost": self.cost(left_out),
            "total_cost_by_turns": ratio(*self._both(self._turns[left_out:])),
            "rounds": [round(one.few.total_s / one.full_s, 2) for one in rounds],
            "chunks": [[one.chunk.first, one.chunk.last] for one in rounds[-1].few.spent],
        }
        if self._drawn:
            beside = [one.full_s for one in self._turns[left_out:]]
            found |= self._at_many(beside, self._many[left_out:])
            found |= self._again(whole)
        return found

    def _at_many(self, full: list[float], many: list[Timed]) -> dict[str, float]:
        return {
            "total_cost_100": ratio([one.total_s for one in many], full),
            "first_sooner_100": ratio(full, [one.first_s for one in many]),
        }

    def _again(self, whole: bool) -> dict[str, float]:
        """What it costs to ask again at each of few points, side by side, once it is warm."""
        cheaper = {}
        for laid_out in (False, True) * 2 if whole else (False,) * 2:
            early_s = self._race.early(self._sql, self._tables[FEW], FEW).total_s
            again_s = self._race.again_at_each_point(self._sql, self._tables[FEW], FEW, laid_out)
            cheaper[laid_out] = round(again_s / early_s, 2)
        self._bar.advance(note=f"{self.name} again at each point")
        names = {False: "cheaper_than_again", True: "cheaper_than_again_laid_out"}
        return {names[laid_out]: times for laid_out, times in cheaper.items()}


def ratio(above: list[float], below: list[float]) -> float:
    """The typical ratio of times that were measured side by side."""
    return round(statistics.median(a / b for a, b in zip(above, below, strict=True)), 3)


def figures_of(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The figures over all queries, and each query's own."""

    def over(name: str) -> list[float]:
        return [row[name] for row in rows.values() if name in row]

    found = {
        "first_sooner_median": round(statistics.median(over("first_sooner")), 2),
        "total_cost_median": round(statistics.median(over("total_cost")), 3),
        "total_cost_worst": max(over("total_cost")),
        # By the turns alone, before those that seemed dear were asked by themselves.
        "total_cost_by_turns_median": round(statistics.median(over("total_cost_by_turns")), 3),
        "total_cost_by_turns_worst": max(over("total_cost_by_turns")),
        "total_cost_100_median": round(statistics.median(over("total_cost_100")), 3),
        "cheaper_than_again_median": round(statistics.median(over("cheaper_than_again")), 2),
        "cheaper_than_again_worst": min(over("cheaper_than_again")),
    }
    if laid_out := over("cheaper_than_again_laid_out"):
        found["cheaper_than_again_laid_out_median"] = round(statistics.median(laid_out), 2)
    return found | {"queries": rows}

"""What a Python pair costs by the bucket of keys, against PySpark's own state by the key.

Every contestant reads the same records, keeps the count of each key in RocksDB, and tells the new
count for each record. Answers are checked against the records themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

from headway.benches.options import Bar, BenchOptions, progress
from headway.engine.stock.backlog import Backlog
from headway.engine.stock.collected import Collected
from headway.engine.stock.contest import Contest, open_contest
from headway.engine.stock.counts import INTERFACES, missing
from headway.engine.stock.ratios import fastest, ratios, spread, typical
from headway.errors import RunError
from headway.flow.pairs import Emitted, Pair
from headway.flow.stream import Stream
from headway.workloads.makers.keyed import Keyed

SENTENCE = "A running count in Python as a pair of headway, against PySpark's own state interfaces."
OURS, BATCHED = "headway", "headway_update_batch"
READERS = 2
WARM_UP = 2
Turn = Callable[[Backlog], Collected]
Turns = dict[str, Turn]
TARGETS = {"5000": 15.0, "100000": 5.0}


class RunningCount(Pair):
    """Tells a key's new count for each of its records, record by record."""

    emits: ClassVar[str] = "n bigint"

    def init(self, key: str) -> int:
        """A new key was never counted."""
        return 0

    def update(self, time: float, key: str, value: Any, state: int) -> tuple[int, Emitted]:
        """Count the record and tell the count."""
        count = state + 1
        return count, [(time, key, count)]


class RunningCountByBatch(Pair):
    """The same, for all records of a bucket at once."""

    emits: ClassVar[str] = "n bigint"

    def update_batch(
        self, times: list[float], keys: list[str], values: list[Any], states: dict[str, int]
    ) -> Emitted:
        """Count the records and tell the counts."""
        told = []
        for time, key in zip(times, keys, strict=True):
            count = states[key] = states.get(key, 0) + 1
            told.append((time, key, count))
        return told


@dataclass(frozen=True, slots=True)
class Case:
    """One number of keys, and how much each contestant does with it in one turn."""

    keys: int
    batch_rows: int
    our_batches: int
    stock_batches: int

    def backlog(self, name: str, seed: int) -> Backlog:
        """The records of one turn: a slow contestant gets fewer batches, of the same size."""
        batches = self.our_batches if name in (OURS, BATCHED) else self.stock_batches
        rows = self.batch_rows * (WARM_UP + batches)
        return Backlog(Keyed(keys=self.keys, seed=seed), rows, self.batch_rows, ("key",), READERS)


FULL = (Case(200, 100_000, 8, 4), Case(5_000, 100_000, 8, 3), Case(100_000, 100_000, 6, 1))
QUICK = (Case(200, 5_000, 2, 1), Case(5_000, 5_000, 2, 1), Case(100_000, 5_000, 2, 1))


def run(options: BenchOptions) -> dict[str, Any]:
    """Let all contestants count the same keys, in turns.

    A rate is the rows of the measured batches over the time from the answers of the last warm-up
    batch to those of the last batch. A first turn of each, on few keys, is not counted.
    """
    cases = QUICK if options.quick else FULL
    repeats = options.repeats or (1 if options.quick else 3)
    left_out = missing()
    with open_contest(READERS) as contest:
        turns = contestants(contest)
        total = len(turns) * (1 + repeats * len(cases))
        with progress(total, "running count") as bar:
            for name in turns:
                rate_of(turns[name], QUICK[0].backlog(name, options.seed))
                bar.advance(note=f"{name}, warming up")
            rates = {
                str(case.keys): measure(turns, case, repeats, options.seed, bar) for case in cases
            }
    figures = figures_of(rates, cases, left_out)
    options.report.mkdir(parents=True, exist_ok=True)
    (options.report / "pairs.json").write_text(json.dumps(figures, indent=1))
    return figures


def contestants(contest: Contest) -> Turns:
    """Each contestant as a function that works a backlog off."""

    def paired(pair: Pair, records: Stream) -> Stream:
        return records.map("key", key="key").pair(pair)

    turns: Turns = {
        OURS: partial(contest.headway, partial(paired, RunningCount())),
        BATCHED: partial(contest.headway, partial(paired, RunningCountByBatch())),
    }
    for name, build in INTERFACES.items():
        if name not in missing():
            turns[name] = partial(contest.stock, build, mode="append")
    return turns


def measure(
    turns: Turns,
    case: Case,
    repeats: int,
    seed: int,
    bar: Bar,
) -> dict[str, list[float]]:
    """Rates of each contestant, one per repeat; the order changes from repeat to repeat."""
    names = list(turns)
    rates: dict[str, list[float]] = {name: [] for name in names}
    for repeat in range(repeats):
        for place in range(len(names)):
            name = names[(place + repeat) % len(names)]
            rates[name].append(rate_of(turns[name], case.backlog(name, seed)))
            bar.advance(note=f"{name}, {case.keys:,} keys, {rates[name][-1]:,.0f} rows/s")
    return rates


def rate_of(turn: Turn, backlog: Backlog) -> float:
    """Rows per second of one turn, whose answers are checked first."""
    collected = turn(backlog)
    check_answers(collected.rows(), backlog)
    rows = backlog.count - WARM_UP * backlog.batch_rows
    return rows / collected.seconds_after(WARM_UP)


def check_answers(answers: pa.Table, backlog: Backlog) -> None:
    """Each key went through every count from 1 to the number of its records, each told once."""
    told = answers.group_by("key").aggregate([("n", "count_distinct"), ("n", "max")])
    keys = backlog.maker.make(0, backlog.count).column("key").value_counts()
    expected = dict(zip(keys.field(0).to_pylist(), keys.field(1).to_pylist(), strict=True))
    for found in ("n_count_distinct", "n_max"):
        counts = dict(zip(told["key"].to_pylist(), told[found].to_pylist(), strict=True))
        if counts != expected or answers.num_rows != backlog.count:
            raise RunError("a contestant's counts are not those of the records; do not trust it")


def figures_of(
    rates: dict[str, dict[str, list[float]]], cases: tuple[Case, ...], left_out: dict[str, str]
) -> dict[str, Any]:
    """The figures by name."""
    stock = [name for name in INTERFACES if name not in left_out]
    best = {keys: fastest(found, stock) for keys, found in rates.items()}
    headline = {keys: ratios(rates[keys], OURS, best[keys]) for keys in rates}
    batched = {keys: ratios(rates[keys], BATCHED, best[keys]) for keys in rates}
    return {
        "ratio_vs_best_stock": {keys: typical(found) for keys, found in headline.items()},
        "ratio_vs_best_stock_spread": {keys: spread(found) for keys, found in headline.items()},
        "ratio_with_update_batch": {keys: typical(found) for keys, found in batched.items()},
        "ratio_vs_each": {
            keys: {name: typical(ratios(found, OURS, name)) for name in stock}
            for keys, found in rates.items()
        },
        "best_stock": best,
        "rows_per_s": {
            keys: {name: typical(values) for name, values in found.items()}
            for keys, found in rates.items()
        },
        "left_out": left_out,
        "results_checked": True,
        "rows_per_batch": {str(case.keys): case.batch_rows for case in cases},
        "measured_batches": {
            str(case.keys): {"headway": case.our_batches, "stock": case.stock_batches}
            for case in cases
        },
        "warm_up_batches": WARM_UP,
        "repeats": len(next(iter(headline.values()))),
        "target_ratio": TARGETS,
    }

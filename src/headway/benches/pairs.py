"""What a Python pair costs by the bucket of keys, against PySpark's own state by the key.

Every contestant reads the same records, keeps the count of each key in RocksDB, and tells the new
count for each record. Answers are checked against the records themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

from headway.benches.options import Bar, BenchOptions, progress
from headway.engine.stock.backlog import Backlog
from headway.engine.stock.contest import Contest, Entry, open_contest
from headway.engine.stock.counts import INTERFACES, missing
from headway.engine.stock.ratios import Blocks, Rounds, fastest, ratios, spread, typical
from headway.errors import RunError
from headway.flow.pairs import Emitted, Pair
from headway.flow.stream import Stream
from headway.workloads.makers.keyed import Keyed

SENTENCE = "A running count in Python as a pair of headway, against PySpark's own state interfaces."
OURS, BATCHED = "headway", "headway_update_batch"
READERS = 2
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
    """One number of keys, the rows of a batch, and which batches count."""

    keys: int
    batch_rows: int
    rounds: Rounds

    def backlog(self, seed: int) -> Backlog:
        """The records that every contestant counts."""
        rows = self.batch_rows * self.rounds.batches
        return Backlog(Keyed(keys=self.keys, seed=seed), rows, self.batch_rows, ("key",), READERS)


def cases_of(options: BenchOptions) -> list[Case]:
    """The cases; more keys cost stock Spark more, so there are fewer rounds of them."""
    if options.quick:
        few = Rounds(1, options.repeats or 2, 1)
        return [Case(5_000, 5_000, few), Case(100_000, 10_000, few)]
    repeats, rows = options.repeats or 3, 100_000
    return [
        Case(200, rows, Rounds(4, repeats, options.times or 3)),
        Case(5_000, rows, Rounds(3, repeats, options.times or 3)),
        Case(100_000, rows // 2, Rounds(1, repeats, options.times or 1)),
    ]


def run(options: BenchOptions) -> dict[str, Any]:
    """Let all contestants count the same keys, a batch each in turn.

    A batch is timed from answers to answers, without the others' turns; a repeat is a block of
    rounds, and its ratio is that of the times within it.
    """
    cases = cases_of(options)
    blocks: dict[str, dict[str, list[float]]] = {}
    with open_contest(READERS) as contest:
        names = list(contestants(contest, cases[0].backlog(options.seed)))
        total = sum(case.rounds.batches for case in cases) * len(names)
        with progress(total, "running count") as bar:
            for case in cases:
                blocks[str(case.keys)] = measure(contest, case, options.seed, bar)
    figures = figures_of(blocks, cases, missing())
    options.report.mkdir(parents=True, exist_ok=True)
    (options.report / "pairs.json").write_text(json.dumps(figures, indent=1))
    return figures


def contestants(contest: Contest, backlog: Backlog) -> dict[str, Entry]:
    """The pair in its two forms, and each interface of stock Spark that this machine has."""

    def paired(pair: Pair, records: Stream) -> Stream:
        return records.map("key", key="key").pair(pair)

    ours = {OURS: RunningCount(), BATCHED: RunningCountByBatch()}
    entries = {name: contest.headway(partial(paired, pair), backlog) for name, pair in ours.items()}
    for name, build in INTERFACES.items():
        if name not in missing():
            entries[name] = contest.stock(build, backlog, "append")
    return entries


def measure(contest: Contest, case: Case, seed: int, bar: Bar) -> dict[str, list[float]]:
    """The seconds of each contestant's blocks, its answers checked."""
    backlog = case.backlog(seed)
    entries = contestants(contest, backlog)
    made = contest.meet(
        entries, backlog.batches, lambda name: bar.advance(note=f"{name}, {case.keys:,} keys")
    )
    bar.advance(len(entries))
    for name, collected in made.items():
        check_answers(name, collected.rows(), backlog)
    return {name: case.rounds.blocks(collected.took_s) for name, collected in made.items()}


def check_answers(name: str, answers: pa.Table, backlog: Backlog) -> None:
    """Each key went through every count from 1 to the number of its records, each told once."""
    told = answers.group_by("key").aggregate([("n", "count_distinct"), ("n", "max")])
    keys = backlog.maker.make(0, backlog.count).column("key").value_counts()
    expected = dict(zip(keys.field(0).to_pylist(), keys.field(1).to_pylist(), strict=True))
    for found in ("n_count_distinct", "n_max"):
        counts = dict(zip(told["key"].to_pylist(), told[found].to_pylist(), strict=True))
        if counts != expected or answers.num_rows != backlog.count:
            raise RunError(f"the counts of {name} are not those of the records")


def figures_of(
    blocks: Mapping[str, Blocks], cases: Sequence[Case], left_out: dict[str, str]
) -> dict[str, Any]:
    """The figures by name, those of a case by its number of keys."""
    stock = [name for name in INTERFACES if name not in left_out]
    best = {keys: fastest(found, stock) for keys, found in blocks.items()}
    headline = {keys: ratios(blocks[keys], OURS, best[keys]) for keys in blocks}
    batched = {keys: ratios(blocks[keys], BATCHED, best[keys]) for keys in blocks}
    return {
        "ratio_vs_best_stock": {keys: typical(found) for keys, found in headline.items()},
        "ratio_vs_best_stock_spread": {keys: spread(found) for keys, found in headline.items()},
        "ratio_with_update_batch": {keys: typical(found) for keys, found in batched.items()},
        "ratio_vs_each": {
            keys: {name: typical(ratios(found, OURS, name)) for name in stock}
            for keys, found in blocks.items()
        },
        "best_stock": best,
        "rows_per_s": {
            str(case.keys): {
                name: typical([case.batch_rows * case.rounds.length / s for s in seconds])
                for name, seconds in blocks[str(case.keys)].items()
            }
            for case in cases
        },
        "left_out": left_out,
        "results_checked": True,
        "rows_per_batch": {str(case.keys): case.batch_rows for case in cases},
        "warm_up_batches": {str(case.keys): case.rounds.warm_up for case in cases},
        "batches_per_repeat": {str(case.keys): case.rounds.length for case in cases},
        "repeats": cases[0].rounds.repeats,
        "target_ratio": TARGETS,
    }

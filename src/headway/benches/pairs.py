"""What a Python pair carries by the bucket of keys, against PySpark's own state by the key.

Every contestant reads the same records, keeps the count of each key in RocksDB, and tells the new
count for each record. What is compared is the rate that each sustains with answers once a second:
each gets batches of the size that it works off in about that time. On batches of one size for all,
the fixed cost of a batch of Spark, which all of them have, hides what a record costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, ClassVar

import pyarrow as pa

from headway.benches.options import Bar, BenchOptions, progress
from headway.engine.stock.backlog import Backlog
from headway.engine.stock.contest import Contest, Entry, open_contest
from headway.engine.stock.counts import INTERFACES, missing
from headway.engine.stock.ratios import Blocks, Rounds, ratios, spread, typical
from headway.errors import RunError
from headway.flow.pairs import Emitted, Pair
from headway.flow.stream import Stream
from headway.workloads.makers.keyed import Keyed

SENTENCE = "A running count in Python as a pair of headway, against PySpark's own state interfaces."
OURS, BATCHED = "headway", "headway_update_batch"
READERS = 2
TARGETS = {"5000": 15.0, "100000": 5.0}
STOCK = tuple(name for name in INTERFACES if name not in missing())
NAMES = (OURS, BATCHED, *STOCK)
WITHIN_S = 1.0  # how long a batch of each contestant takes, about
SMALL_ROWS = 1_000
LARGE_ROWS = {OURS: 60_000, BATCHED: 60_000} | dict.fromkeys(STOCK, 6_000)
FEWEST_ROWS, MOST_ROWS = SMALL_ROWS, 300_000


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
    """One number of keys, and how long it is measured: `probe` to find the sizes, then `rounds`."""

    keys: int
    probe: Rounds
    rounds: Rounds

    def backlog(self, seed: int, batch_rows: int, batches: int) -> Backlog:
        """The records that a contestant counts."""
        maker = Keyed(keys=self.keys, seed=seed)
        return Backlog(maker, batch_rows * batches, batch_rows, ("key",), READERS)

    @property
    def steps(self) -> int:
        """How many batches each contestant works off in all."""
        return 2 * self.probe.batches + self.rounds.batches


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out of one case: the rows of a batch and the seconds of the blocks, by name."""

    batch_rows: Mapping[str, int]
    blocks: Blocks

    def rates(self, length: int) -> Blocks:
        """Rows per second of each block."""
        return {n: [self.batch_rows[n] * length / s for s in b] for n, b in self.blocks.items()}


def cases_of(options: BenchOptions) -> list[Case]:
    """The cases of a run."""
    probe = Rounds(2, 1, 1)
    if options.quick:
        return [Case(5_000, Rounds(1, 1, 1), Rounds(0, options.repeats or 2, options.times or 1))]
    rounds = Rounds(2, options.repeats or 5, options.times or 2)
    return [Case(keys, probe, rounds) for keys in (200, 5_000, 100_000)]


def run(options: BenchOptions) -> dict[str, Any]:
    """Let all contestants count the same keys, a batch each in turn.

    A batch is timed from answers to answers, without the others' turns; a repeat is a block of
    rounds, and its ratio is that of the rates within it.
    """
    cases = cases_of(options)
    measured: dict[str, Measured] = {}
    with open_contest(READERS) as contest:
        total = sum(case.steps for case in cases) * len(NAMES)
        with progress(total, "running count") as bar:
            for case in cases:
                measured[str(case.keys)] = measure(contest, case, options.seed, bar)
    figures = figures_of(measured, cases, missing())
    options.keep("pairs", figures)
    return figures


def measure(contest: Contest, case: Case, seed: int, bar: Bar) -> Measured:
    """Find each contestant's size of a batch by two probes, then let them all count."""
    probes = []
    for sizes in (dict.fromkeys(NAMES, SMALL_ROWS), LARGE_ROWS):
        found = count_keys(contest, case, (seed, sizes, case.probe), bar)
        probes.append({name: (sizes[name], block[0]) for name, block in found.items()})
    sizes = {name: rows_in(WITHIN_S, first, probes[1][name]) for name, first in probes[0].items()}
    return Measured(sizes, count_keys(contest, case, (seed, sizes, case.rounds), bar))


def rows_in(seconds: float, small: tuple[int, float], large: tuple[int, float]) -> int:
    """How many rows a batch of so many seconds has, on the line through two batches.

    >>> rows_in(1.0, (1_000, 0.4), (9_000, 1.2))
    7000
    """
    slope = max(1e-9, (large[1] - small[1]) / (large[0] - small[0]))
    found = small[0] + (seconds - small[1]) / slope
    return int(min(MOST_ROWS, max(FEWEST_ROWS, found)))


def count_keys(
    contest: Contest, case: Case, how: tuple[int, Mapping[str, int], Rounds], bar: Bar
) -> dict[str, list[float]]:
    """The seconds of each contestant's blocks, its answers checked."""
    seed, sizes, rounds = how
    backlogs = {name: case.backlog(seed, rows, rounds.batches) for name, rows in sizes.items()}
    entries = contestants(contest, backlogs)
    made = contest.meet(
        entries, rounds.batches, lambda name: bar.advance(note=f"{name}, {case.keys:,} keys")
    )
    bar.advance(len(entries))
    for name, collected in made.items():
        check_answers(name, collected.rows(), backlogs[name])
    return {name: rounds.blocks(collected.took_s) for name, collected in made.items()}


def contestants(contest: Contest, backlogs: Mapping[str, Backlog]) -> dict[str, Entry]:
    """The pair in its two forms, and each interface of stock Spark that this machine has."""

    def paired(pair: Pair, records: Stream) -> Stream:
        return records.map("key", key="key").pair(pair)

    ours = {OURS: RunningCount(), BATCHED: RunningCountByBatch()}
    entries = {
        name: contest.headway(partial(paired, pair), backlogs[name]) for name, pair in ours.items()
    }
    for name in STOCK:
        entries[name] = contest.stock(INTERFACES[name], backlogs[name], "append")
    return entries


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
    measured: Mapping[str, Measured], cases: Sequence[Case], left_out: dict[str, str]
) -> dict[str, Any]:
    """The figures by name, those of a case by its number of keys."""
    stock = [name for name in INTERFACES if name not in left_out]
    rates = {str(case.keys): measured[str(case.keys)].rates(case.rounds.length) for case in cases}
    best = {keys: max(stock, key=lambda name: median(found[name])) for keys, found in rates.items()}

    def ratio(keys: str, ours: str, other: str) -> list[float]:
        return ratios(rates[keys], other, ours)  # of rates, so the other way round

    headline = {keys: ratio(keys, OURS, best[keys]) for keys in rates}
    return {
        "ratio_vs_best_stock": {keys: typical(found) for keys, found in headline.items()},
        "ratio_vs_best_stock_spread": {keys: spread(found) for keys, found in headline.items()},
        "ratio_with_update_batch": {
            keys: typical(ratio(keys, BATCHED, best[keys])) for keys in rates
        },
        "ratio_vs_each": {
            keys: {name: typical(ratio(keys, OURS, name)) for name in stock} for keys in rates
        },
        "best_stock": best,
        "rows_per_s": {
            keys: {name: typical(each) for name, each in found.items()}
            for keys, found in rates.items()
        },
        "batch_s": {
            str(case.keys): {
                name: typical([s / case.rounds.length for s in seconds])
                for name, seconds in measured[str(case.keys)].blocks.items()
            }
            for case in cases
        },
        "rows_per_batch": {keys: dict(found.batch_rows) for keys, found in measured.items()},
        "left_out": left_out,
        "results_checked": True,
        "warm_up_batches": cases[0].rounds.warm_up,
        "batches_per_repeat": cases[0].rounds.length,
        "repeats": cases[0].rounds.repeats,
        "target_ratio": TARGETS,
    }

"""What headway costs where Spark does all the work: its native flow against queries by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from headway.benches.options import BenchOptions, progress
from headway.engine.stock.backlog import Backlog
from headway.engine.stock.collected import Collected
from headway.engine.stock.contest import Contest, open_contest
from headway.engine.stock.ratios import ratios, spread, typical
from headway.engine.stock.words import count_words
from headway.errors import RunError
from headway.flow.stream import Stream
from headway.workloads.makers.tweets import Tweets
from headway.workloads.words import split_words

SENTENCE = "A native word count through headway, against the same query written by hand for Spark."
OURS, PLAIN, FILES = "headway", "plain_source", "file_source"
READERS = 2
WARM_UP = 3
Contestant = Callable[[], Collected]


def run(options: BenchOptions) -> dict[str, Any]:
    """Let headway and two hand-written queries work off the same backlog, in turns.

    A rate is the rows of the measured batches over the time from the answers of the last warm-up
    batch to those of the last batch. A first turn of each, not counted, warms the JVM up.
    """
    measured = options.times or (4 if options.quick else 12)
    repeats = options.repeats or (2 if options.quick else 5)
    rows = 5_000 if options.quick else 20_000
    maker = Tweets(seed=options.seed)
    backlog = Backlog(maker, (WARM_UP + measured) * rows, rows, ("text",), READERS)
    with open_contest(READERS) as contest:
        rates = measure(contestants(contest, backlog), backlog, repeats)
    figures = figures_of(rates, backlog)
    options.report.mkdir(parents=True, exist_ok=True)
    (options.report / "native.json").write_text(json.dumps(figures, indent=1))
    return figures


def counted(tweets: Stream) -> Stream:
    """The running word count as a flow."""
    return split_words(tweets).reduce(n="count(*)")


def contestants(contest: Contest, backlog: Backlog) -> dict[str, Contestant]:
    """Each contestant as a function that works the backlog off once."""
    files: Path = contest.lay_out(backlog)
    return {
        OURS: lambda: contest.headway(counted, backlog),
        PLAIN: lambda: contest.stock(count_words, backlog, "update"),
        FILES: lambda: contest.stock_files(count_words, backlog, files, "update"),
    }


def measure(turns: dict[str, Contestant], backlog: Backlog, repeats: int) -> dict[str, list[float]]:
    """Rates of each contestant, one per repeat; the order changes from repeat to repeat."""
    names = list(turns)
    rates: dict[str, list[float]] = {name: [] for name in names}
    counts: dict[str, int] | None = None
    with progress((repeats + 1) * len(names), "word count") as bar:
        for repeat in range(repeats + 1):
            for place in range(len(names)):
                name = names[(place + repeat) % len(names)]
                collected = turns[name]()
                found = final_counts(collected.rows())
                counts = counts or found
                if found != counts:
                    raise RunError(f"{name} counted other words than {names[0]}")
                if repeat:
                    seconds = collected.seconds_after(WARM_UP)
                    rates[name].append((backlog.count - WARM_UP * backlog.batch_rows) / seconds)
                bar.advance(note=name)
    return rates


def final_counts(answers: pa.Table) -> dict[str, int]:
    """Each word's last count; counts only grow, so it is the largest."""
    last = answers.group_by("word").aggregate([("n", "max")])
    return dict(zip(last["word"].to_pylist(), last["n_max"].to_pylist(), strict=True))


def figures_of(rates: dict[str, list[float]], backlog: Backlog) -> dict[str, Any]:
    """The figures by name."""
    plain, files = ratios(rates, OURS, PLAIN), ratios(rates, OURS, FILES)
    return {
        "rate_ratio": typical(plain),
        "rate_ratio_spread": spread(plain),
        "rate_ratio_vs_file_source": typical(files),
        "rate_ratio_vs_file_source_spread": spread(files),
        "rows_per_s": {name: typical(found) for name, found in rates.items()},
        "rows_per_s_spread": {name: spread(found) for name, found in rates.items()},
        "results_equal": True,
        "rows_per_batch": backlog.batch_rows,
        "warm_up_batches": WARM_UP,
        "measured_batches": backlog.batches - WARM_UP,
        "repeats": len(plain),
        "target_rate_ratio": 0.9,
    }

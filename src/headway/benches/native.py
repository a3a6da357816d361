"""What headway costs where Spark does all the work: its native flow against queries by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from headway.benches.options import BenchOptions, progress
from headway.engine.stock.backlog import Backlog
from headway.engine.stock.collected import Collected
from headway.engine.stock.contest import Contest, Entry, open_contest
from headway.engine.stock.ratios import Blocks, Rounds, ratios, spread, typical
from headway.engine.stock.words import count_words
from headway.errors import RunError
from headway.flow.stream import Stream
from headway.workloads.makers.tweets import Tweets
from headway.workloads.words import split_words

SENTENCE = "A native word count through headway, against the same query written by hand for Spark."
OURS, PLAIN, FILES = "headway", "plain_source", "file_source"
READERS = 2
WARM_UP = 30  # batches of each; until then the JVM is still compiling what all of them share


def run(options: BenchOptions) -> dict[str, Any]:
    """Let headway and two hand-written queries work off the same backlog, a batch each in turn.

    A batch is timed from answers to answers, without the others' turns; a repeat is a block of
    rounds, and its ratio is that of the times within it.
    """
    length = options.times or (2 if options.quick else 8)
    rounds = Rounds(WARM_UP, options.repeats or (3 if options.quick else 5), length)
    rows = 20_000 if options.quick else 100_000
    maker = Tweets(seed=options.seed)
    backlog = Backlog(maker, rounds.batches * rows, rows, ("text",), READERS)
    with open_contest(READERS) as contest:
        entries = contestants(contest, backlog)
        with progress(rounds.batches * len(entries), "word count") as bar:
            made = contest.meet(entries, rounds.batches, lambda name: bar.advance(note=name))
            bar.advance(len(entries))
    check_equal(made)
    figures = figures_of({n: rounds.blocks(c.took_s) for n, c in made.items()}, rows, rounds)
    options.keep("native", figures)
    return figures


def counted(tweets: Stream) -> Stream:
    """The running word count as a flow."""
    return split_words(tweets).reduce(n="count(*)")


def contestants(contest: Contest, backlog: Backlog) -> dict[str, Entry]:
    """headway, the plain source, and Spark's own file source."""
    return {
        OURS: contest.headway(counted, backlog),
        PLAIN: contest.stock(count_words, backlog, "update"),
        FILES: contest.stock_files(count_words, backlog, "update"),
    }


def check_equal(made: dict[str, Collected]) -> None:
    """All contestants found the same words and the same counts."""
    ours = final_counts(made[OURS].rows())
    for name, collected in made.items():
        if final_counts(collected.rows()) != ours:
            raise RunError(f"{name} counted other words than {OURS}; their times do not compare")


def final_counts(answers: pa.Table) -> dict[str, int]:
    """Each word's last count; counts only grow, so it is the largest."""
    last = answers.group_by("word").aggregate([("n", "max")])
    return dict(zip(last["word"].to_pylist(), last["n_max"].to_pylist(), strict=True))


def figures_of(blocks: Blocks, batch_rows: int, rounds: Rounds) -> dict[str, Any]:
    """The figures by name."""
    plain, files = ratios(blocks, OURS, PLAIN), ratios(blocks, OURS, FILES)
    rates = {n: [batch_rows * rounds.length / s for s in found] for n, found in blocks.items()}
    return {
        "rate_ratio": typical(plain),
        "rate_ratio_spread": spread(plain),
        "rate_ratio_vs_file_source": typical(files),
        "rate_ratio_vs_file_source_spread": spread(files),
        "rows_per_s": {name: typical(found) for name, found in rates.items()},
        "rows_per_s_spread": {name: spread(found) for name, found in rates.items()},
        "results_equal": True,
        "rows_per_batch": batch_rows,
        "warm_up_batches": rounds.warm_up,
        "batches_per_repeat": rounds.length,
        "repeats": rounds.repeats,
        "target_rate_ratio": 0.9,
    }

"""The three workloads on Spark, one session for all of them, each with a bench of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from headway.benches.foretold.steps import warming
from headway.benches.foretold.workbench import Workbench
from headway.engine.spark.session import open_session
from headway.flow.stream import Stream
from headway.workloads.registry import WORKLOADS
from headway.workloads.words import split_words

CORES = 2
FIRST_WARM_S, QUICK_WARM_S = 16.0, 8.0
# The rate at which each workload is learned first; others are multiples of it.
PROFILED = {"sessions": 6_000.0, "words": 5_000.0, "windows": 5_000.0}


def short_windows(tweets: Stream) -> Stream:
    """Words in windows that are short enough to see many of them."""
    return split_words(tweets).window("1s").reduce(n="count(*)")


MEASURED = {
    **{name: WORKLOADS[name] for name in ("sessions", "words")},
    "windows": replace(WORKLOADS["windows"], native=short_windows),
}


def workbenches(names: Iterable[str], quick: bool) -> Iterator[tuple[str, Workbench]]:
    """A bench for each workload, one after the other, in a Spark that ends after the last.

    For minutes a JVM gets faster at planning batches, by a factor of three or more: the first flow
    runs for a while before anything is learned.
    """
    with TemporaryDirectory(prefix="headway-bench-") as place:
        spark = open_session(f"local[{CORES}]")
        try:
            for place_in_row, name in enumerate(names):
                bench = Workbench(spark, MEASURED[name], Path(place) / name)
                if not place_in_row:
                    bench.trial(warming(PROFILED[name], QUICK_WARM_S if quick else FIRST_WARM_S))
                yield name, bench
        finally:
            spark.stop()

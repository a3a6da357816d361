"""The three workloads on Spark, one session for all of them, each with a bench of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from headway.benches.foretold.workbench import Workbench
from headway.engine.spark.session import open_session
from headway.flow.stream import Stream
from headway.workloads.registry import WORKLOADS
from headway.workloads.words import split_words

CORES = 2
# The rate at which each workload is profiled; it is then measured at four times as much, or more.
PROFILED = {"sessions": 6_000.0, "words": 5_000.0, "windows": 5_000.0}


def short_windows(tweets: Stream) -> Stream:
    """Words in windows that are short enough to see many of them."""
    return split_words(tweets).window("2s").reduce(n="count(*)")


MEASURED = {
    **{name: WORKLOADS[name] for name in ("sessions", "words")},
    "windows": replace(WORKLOADS["windows"], native=short_windows),
}


def workbenches(names: Iterable[str]) -> Iterator[tuple[str, Workbench]]:
    """A bench for each workload, one after the other, in a Spark that ends after the last."""
    with TemporaryDirectory(prefix="headway-bench-") as place:
        spark = open_session(f"local[{CORES}]")
        try:
            for name in names:
                yield name, Workbench(spark, MEASURED[name], Path(place) / name)
        finally:
            spark.stop()

"""TPC-H's tables annotated in several ways and kept beside each other, for benchmarks and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from headway.clock import SystemClock
from headway.early.progress import FOREVER, FROM
from headway.early.sampling import Sampling
from headway.engine.early.sources import read_source
from headway.engine.early.storage import MANIFEST, Stored, annotate, open_stored

START = Sampling("start", points=1)
FIRST = 0.01  # of all tuples, at the first point of a sample that begins small


def growing(column: str, points: int) -> Sampling:
    """Tuples enter by a hash of a key and stay."""
    return Sampling("key", (column,), points)


def beginning_small(column: str, points: int) -> Sampling:
    """As growing, but the first point brings few tuples, so that its answer comes soon."""
    return Sampling("key", (column,), points, first=min(FIRST, 1 / (points + 1)))


def mixed(column: str, points: int) -> Sampling:
    """As growing, but of every three keys one leaves again after a fourth of the points."""
    stay = max(1, points // 4)
    until = f"IF(PMOD(XXHASH64(`{column}`), 3) = 0, {FROM} + {stay}, {FOREVER})"
    return Sampling("key", (column,), points, until=until)


class Library:
    """Annotated copies of tables in a folder, each made when it is first asked for."""

    def __init__(self, spark: SparkSession, folder: Path, tables: Mapping[str, Path]) -> None:
        self._spark, self._folder, self._tables = spark, folder, tables
        self._clock = SystemClock()
        self.annotating_s: dict[str, float] = {}  # what each copy took to make, by its name

    def open(
        self, keys: Mapping[str, str], points: int, way: Callable[[str, int], Sampling] = growing
    ) -> dict[str, Stored]:
        """All tables: those with a key sampled by it, the others there from the start."""
        found = {}
        for name in self._tables:
            sampling = way(keys[name], points) if name in keys else START
            found[name] = self._one(name, sampling, way.__name__)
        return found

    def _one(self, name: str, sampling: Sampling, way: str) -> Stored:
        mark = "-".join(
            [name, *sampling.by, str(sampling.points), way if sampling != START else "start"]
        )
        place = self._folder / mark
        if (place / MANIFEST).is_file():
            return open_stored(place)
        begun_s = self._clock.steady_s()
        frame, source = read_source(self._tables[name], self._spark)
        made = annotate(frame, sampling, place, source)
        self.annotating_s[mark] = self._clock.steady_s() - begun_s
        return made

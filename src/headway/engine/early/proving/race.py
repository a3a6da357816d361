"""The same question in full and early, by turns in one Spark: what benchmarks of it time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from headway.clock import Clock, SystemClock
from headway.early.chunks import Spent
from headway.engine.early.ask import ask
from headway.engine.early.storage import Stored
from headway.engine.early.views import Tables, analysed, common_points, session_beside


@dataclass(frozen=True, slots=True)
class Timed:
    """When the first answer and the last one were there, in seconds from the question."""

    first_s: float
    total_s: float
    last: str  # its fingerprint
    spent: tuple[Spent, ...]


class Race:
    """One Spark in which a question is asked in several ways."""

    def __init__(
        self, spark: SparkSession, files: Mapping[str, Path], clock: Clock | None = None
    ) -> None:
        self._spark, self._clock = spark, clock or SystemClock()
        self._plain = session_beside(spark)
        for name, path in files.items():
            self._plain.read.parquet(str(path)).createOrReplaceTempView(name)

    @property
    def spark(self) -> SparkSession:
        """The session that questions are asked in."""
        return self._spark

    def in_full(self, sql: str) -> float:
        """Seconds of the plain query over the files as they were given."""
        begun = self._clock.steady_s()
        analysed(self._plain, sql).toArrow()
        return self._clock.steady_s() - begun

    def early(
        self, sql: str, tables: Mapping[str, Stored], points: int, chunk: int | None = None
    ) -> Timed:
        """Ask early, to the last answer."""
        begun = self._clock.steady_s()
        first_s = 0.0
        asking = ask(sql, tables, points=points, chunk=chunk, spark=self._spark)
        for answer in asking:
            answer.table  # noqa: B018 - which cuts it out of its chunk, and sorts it
            if not first_s:
                first_s = self._clock.steady_s() - begun
        total_s = self._clock.steady_s() - begun
        return Timed(first_s, total_s, answer.fingerprint, asking.spent)

    def first(self, sql: str, tables: Mapping[str, Stored], points: int) -> float:
        """Seconds to the first answer; no other is asked for."""
        begun = self._clock.steady_s()
        next(iter(ask(sql, tables, points=points, spark=self._spark))).table  # noqa: B018
        return self._clock.steady_s() - begun

    def again_at_each_point(
        self, sql: str, tables: Mapping[str, Stored], points: int, laid_out: bool
    ) -> float:
        """Seconds of a batch query over the tuples of each point: what is done without rules.

        Files are read of those points alone, in any case. `laid_out`, Spark is also told that rows
        lie apart by their key, which saves it most shuffles; without us nobody tells it.
        """
        batch = -(-common_points(tables) // points)
        seen = Tables(session_beside(self._spark), tables, points, batch)
        seen.session.conf.set("spark.sql.sources.bucketing.enabled", str(laid_out).lower())
        begun = self._clock.steady_s()
        for point in range(points):
            analysed(seen.session, seen.stabbed(sql, point)).toArrow()
        return self._clock.steady_s() - begun

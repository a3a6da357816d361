"""Event times of made records: mostly in order, as disordered as a test wants them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headway.units import Duration, parse_micros
from headway.workloads.makers.chance import Numbers, below, chosen, hash_numbers

NEW_YEAR_2026_US = 1_767_225_600_000_000
TIMES = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Disorder:
    """When made records happened: record n at `start_us` + n / `per_s`, less its own delay.

    A record happened up to `jitter` before its place in the order. A share `late_share` of all,
    spread evenly, happened `late_by` earlier still. Nothing is ever ahead of its place.
    """

    per_s: float = 10_000.0
    jitter: Duration = "0s"
    late_share: float = 0.0
    late_by: Duration = "0s"
    start_us: int = NEW_YEAR_2026_US

    def __post_init__(self) -> None:
        if not self.per_s > 0:
            raise ValueError(f"records per second must be positive; got {self.per_s!r}")
        if not 0 <= self.late_share <= 1:
            raise ValueError(f"late_share must be between 0 and 1; got {self.late_share!r}")
        if not 0 <= parse_micros(self.jitter, "jitter") < 2**32:
            raise ValueError(f"jitter must be between 0s and 71min; got {self.jitter!r}")
        if parse_micros(self.late_by, "late_by") < 0:
            raise ValueError(f"late_by must not be negative; got {self.late_by!r}")

    def times_us(self, first: int, stop: int, seed: int) -> Numbers:
        """The event times of records `first` to `stop`, in microseconds since 1970."""
        places = np.arange(first, stop, dtype=np.int64)
        times = self.start_us + np.round(places * (1e6 / self.per_s)).astype(np.int64)
        jitter_us = parse_micros(self.jitter, "jitter")
        if jitter_us or self.late_share:
            hashes = hash_numbers(first, stop, seed, "disorder")
            times -= below(hashes, jitter_us + 1)
            times -= chosen(hashes, self.late_share) * parse_micros(self.late_by, "late_by")
        return times

    def times(self, first: int, stop: int, seed: int) -> pa.TimestampArray:
        """The same as an Arrow column."""
        return pa.array(self.times_us(first, stop, seed)).view(TIMES)


IN_ORDER = Disorder()

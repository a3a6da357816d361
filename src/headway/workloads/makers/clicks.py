"""Requests to a web site: who asked for which page, when, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from headway.flow.columns.schema import Schema
from headway.workloads.makers.chance import hash_numbers
from headway.workloads.makers.disorder import IN_ORDER, Disorder
from headway.workloads.makers.vocabulary import COMMON
from headway.workloads.makers.zipf import draw_ranks, name_ranks

CLICKS = "time timestamp, user string, url string, status int"
COLUMNS = Schema.parse(CLICKS).arrow()
SHELVES = ("books", "music", "films", "games", "garden", "kitchen", "shoes", "toys", "tools", "tea")
# How many of 256 answers carry each status.
STATUSES = {200: 225, 304: 16, 404: 10, 302: 3, 500: 2}
STATUS_OF_BYTE = np.repeat(list(STATUSES), list(STATUSES.values())).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Clicks:
    """Clicks of `keys` users; `exponent` 0 makes all users equally busy, 1 a few very busy.

    >>> Clicks(seed=1).make(10, 12).equals(Clicks(seed=1).make(0, 12).slice(10))
    True
    """

    keys: int = 10_000
    exponent: float = 0.0
    seed: int = 0
    disorder: Disorder = IN_ORDER
    schema = CLICKS

    def make(self, first: int, stop: int) -> pa.RecordBatch:
        """Records `first` to `stop`, a function of these numbers and the parameters alone."""
        users = draw_ranks(hash_numbers(first, stop, self.seed, "user"), self.keys, self.exponent)
        drawn = hash_numbers(first, stop, self.seed, "page")
        pages = site().take(pa.array(draw_ranks(drawn, len(site()), 1.0)))
        statuses = pa.array(STATUS_OF_BYTE[drawn & np.uint64(0xFF)])
        times = self.disorder.times(first, stop, self.seed)
        return pa.RecordBatch.from_arrays(
            [times, name_ranks("user", users), pages, statuses], schema=COLUMNS
        )


@lru_cache(maxsize=1)
def site() -> pa.StringArray:
    """The pages of the site, the most visited first."""
    fixed = ["/", "/images/logo.gif", "/login", "/cart", "/search", "/style.css", "/about", "/help"]
    shelves = [f"/shop/{shelf}" for shelf in SHELVES]
    searches = [f"/search?q={word}" for word in COMMON[-100:]]
    items = [f"/shop/{SHELVES[n % len(SHELVES)]}/item-{n}" for n in range(400)]
    return pa.array([*fixed, *shelves, *searches, *items])

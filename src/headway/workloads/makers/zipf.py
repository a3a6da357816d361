"""Skewed choices: rank r is drawn in proportion to 1 / (r + 1)**exponent, as words are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headway.workloads.makers.chance import HALF, Hashes, Numbers, below

GUIDE_BITS = 16
UNSURE = -1


@dataclass(frozen=True, eq=False)
class Skew:
    """Ranks from 0, the most frequent first; exact, by inversion of the cumulated shares.

    `until[r]` is the first 32-bit number that no longer means rank r. `guide` holds the rank that
    all numbers with the same upper 16 bits mean; only where they disagree is `until` searched.
    """

    until: NDArray[np.uint32]
    guide: Numbers

    def ranks(self, hashes: Hashes) -> Numbers:
        """One rank for each hash, from its upper half."""
        ranks: Numbers = self.guide[hashes >> np.uint64(64 - GUIDE_BITS)]
        unsure = np.flatnonzero(ranks == UNSURE)
        numbers = (hashes[unsure] >> HALF).astype(np.uint32)
        ranks[unsure] = np.searchsorted(self.until, numbers, side="right")
        return ranks


@lru_cache(maxsize=16)
def skew(size: int, exponent: float) -> Skew:
    """The table for `size` ranks; made once in each process."""
    shares = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    cumulated = np.cumsum(shares)
    # The last rank has no end: all numbers above the others are its own.
    until = np.round(cumulated[:-1] / cumulated[-1] * 2**32).clip(max=2**32 - 1).astype(np.uint32)
    lowest = np.arange(2**GUIDE_BITS, dtype=np.uint32) << np.uint32(32 - GUIDE_BITS)
    highest = lowest | np.uint32(2 ** (32 - GUIDE_BITS) - 1)
    first = np.searchsorted(until, lowest, side="right")
    last = np.searchsorted(until, highest, side="right")
    return Skew(until, np.where(first == last, first, UNSURE).astype(np.int64))


def draw_ranks(hashes: Hashes, size: int, exponent: float) -> Numbers:
    """One rank below `size` for each hash; all are equally likely when `exponent` is 0."""
    if exponent < 0:
        raise ValueError(f"a Zipf exponent must not be negative; got {exponent!r}")
    if exponent == 0 or size <= 1:
        return below(hashes, size)
    return skew(size, exponent).ranks(hashes)


def name_ranks(prefix: str, ranks: Numbers) -> pa.StringArray:
    """A name for each rank: the prefix, then the rank in digits.

    >>> name_ranks("key-", np.array([0, 12])).to_pylist()
    ['key-0', 'key-12']
    """
    digits = pa.array(ranks).cast(pa.string())
    return pc.binary_join_element_wise(pa.scalar(prefix), digits, pa.scalar(""))

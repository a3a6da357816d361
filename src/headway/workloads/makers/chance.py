"""Chance by record number: what is drawn for record n depends on n, a seed and a purpose alone.

A generator that walks (such as numpy's) would have to replay every record before n. Hashing n
instead makes any range of records as cheap as any other, and the same whoever asks for it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int64]

# Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014): splitmix64.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
HALF = np.uint64(32)


def hash_numbers(first: int, stop: int, seed: int, purpose: str) -> Hashes:
    """One 64-bit hash for each record number from `first` to `stop`.

    Hashes of different purposes are independent of each other.

    >>> whole, part = hash_numbers(0, 9, 7, "user"), hash_numbers(5, 9, 7, "user")
    >>> bool((whole[5:] == part).all())
    True
    """
    if not 0 <= first <= stop:
        raise ValueError(f"a range of records must be 0 <= first <= stop; got {first} and {stop}")
    return mix(np.arange(first, stop, dtype=np.uint64) * STEP + salt(seed, purpose))


@lru_cache(maxsize=256)
def salt(seed: int, purpose: str) -> np.uint64:
    """The number that sets one purpose under one seed apart from all others."""
    digest = hashlib.blake2b(f"{seed} {purpose}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def mix(numbers: Hashes) -> Hashes:
    """Scatter numbers over all 64 bits, in place: the last three steps of splitmix64."""
    numbers ^= numbers >> np.uint64(30)
    numbers *= FIRST_FACTOR
    numbers ^= numbers >> np.uint64(27)
    numbers *= SECOND_FACTOR
    numbers ^= numbers >> np.uint64(31)
    return numbers


def below(hashes: Hashes, bound: int) -> Numbers:
    """Whole numbers from 0 to `bound` - 1, all equally likely, from the upper half of each hash."""
    if not 1 <= bound <= 2**32:
        raise ValueError(f"a number of choices must be between 1 and 2**32; got {bound}")
    return ((hashes >> HALF) * np.uint64(bound) >> HALF).view(np.int64)


def chosen(hashes: Hashes, share: float) -> NDArray[np.bool_]:
    """Which records belong to a share of all, from the lower half of each hash.

    >>> bool(abs(chosen(hash_numbers(0, 100_000, 1, "late"), 0.1).mean() - 0.1) < 0.01)
    True
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share must be between 0 and 1; got {share!r}")
    return (hashes & np.uint64(0xFFFF_FFFF)) < np.uint64(round(share * 2**32))

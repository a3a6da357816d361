"""Which bucket a key belongs to: the same in every process, and for all keys that are equal."""

from __future__ import annotations

import pickle
import zlib
from functools import lru_cache
from numbers import Number
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headway.engine.pairs.columns import to_values

MOST_REMEMBERED = 1_000_000


class BucketOf(dict[Any, int]):
    """Key to bucket, remembered."""

    def __init__(self, buckets: int) -> None:
        super().__init__()
        self._buckets = buckets

    def __missing__(self, key: Any) -> int:
        if len(self) > MOST_REMEMBERED:
            self.clear()
        data = key.encode() if isinstance(key, str) else stable_bytes(key)
        bucket = self[key] = zlib.crc32(data) % self._buckets
        return bucket


@lru_cache(maxsize=4)
def bucket_table(buckets: int) -> BucketOf:
    """The table that all tasks of this process share."""
    return BucketOf(buckets)


def stable_bytes(key: Any) -> bytes:
    """Bytes that are equal for equal keys, whatever process asks.

    Python holds 1, 1.0 and True to be one key, and so must we.

    >>> stable_bytes((1, "a")) == stable_bytes((1.0, "a"))
    True
    """
    match key:
        case str():
            return key.encode()
        case Number():
            return b"%d" % hash(key) if key == key else b"nan"
        case tuple():
            return b"\0".join(stable_bytes(part) for part in key)
    return pickle.dumps(key, protocol=4)


def buckets_of(columns: list[pa.Array], rows: int, buckets: int) -> NDArray[np.uint32]:
    """The bucket of each row, by the columns of its key; a flow without a key has the key None."""
    table = bucket_table(buckets)
    if not columns:
        return np.full(rows, table[None], dtype=np.uint32)
    if len(columns) > 1:
        keys = zip(*(to_values(column) for column in columns), strict=True)
        return np.fromiter((table[key] for key in keys), np.uint32, rows)
    column = columns[0]
    if not (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
        return np.fromiter((table[key] for key in to_values(column)), np.uint32, rows)
    # Each distinct key is looked up once, not once for each of its rows.
    coded = column.dictionary_encode(null_encoding="encode")
    of_code = np.array([table[key] for key in to_values(coded.dictionary)], dtype=np.uint32)
    return np.asarray(of_code[coded.indices.to_numpy(zero_copy_only=False)])

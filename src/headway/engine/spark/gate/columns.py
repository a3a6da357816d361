"""The names of the columns that headway adds to a record on its way through Spark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ARRIVAL = "__arrival_us"  # when the record arrived in its topic, microseconds since 1970
AGES = "__ages"  # of all records of a slice, on a row of its last block; null on the others
TICK = "__tick"  # the record's time less one microsecond: Spark's windows are closed at the start
CLOSED = "__closed_us"  # windows that end by then are closed, the same for all rows of a batch
TIME = "__time_us"  # the record's time, for Python pairs
SEQ = "__seq"  # the record's place in its topic; NO_RECORD marks a row that is none
FROM = "__from"  # in real-time mode: the record's topic, partition and offset
READ = "__read"  # there, too: when a record was read, and how old it was, if its times are taken
SPAN = "__window"  # a window while it is being computed
VERSION = "__version"  # how many records an answer of its key, and window, has seen: it only grows
ARRIVED = "__arrived_us"  # arrival of the record that brought an answer about
MAPPED = "__mapped_ms"  # when that record was mapped in real-time mode, and when it was read
WINDOW_END = "__window_end_us"  # when the window of an answer ends
LAST = "__last_arrival_us"  # arrival of the last record of a partitioned window
NO_RECORD = -1
SOURCE_SHIFT, PARTITION_SHIFT = 56, 44  # __seq = source << 56 | partition << 44 | offset


def seq_of(number: int, partition: str, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of records of one partition of a query's source `number`.

    >>> place_of(int(seq_of(1, "2", np.array([7]))[0]))
    (1, '2', 7)
    """
    return (number << SOURCE_SHIFT) + (int(partition) << PARTITION_SHIFT) + offsets


def place_of(seq: int) -> tuple[int, str, int]:
    """Source, partition and offset of a record."""
    partition = (seq >> PARTITION_SHIFT) & ((1 << (SOURCE_SHIFT - PARTITION_SHIFT)) - 1)
    return seq >> SOURCE_SHIFT, str(partition), seq & ((1 << PARTITION_SHIFT) - 1)

"""The names of the columns that headway adds to a record on its way through Spark."""

from __future__ import annotations

ARRIVAL = "__arrival_us"  # when the record arrived in its topic, microseconds since 1970
TICK = "__tick"  # the record's time less one microsecond: Spark's windows are closed at the start
CLOSED = "__closed_us"  # windows that end by then are closed, the same for all rows of a batch
TIME = "__time_us"  # the record's time, for Python pairs
SEQ = "__seq"  # the record's place in its topic; NO_RECORD marks a row that is none
SPAN = "__window"  # a window while it is being computed
LAST = "__last_arrival_us"  # arrival of the last record of a partitioned window
NO_RECORD = -1
PARTITION_SHIFT = 44  # __seq = partition << 44 | offset

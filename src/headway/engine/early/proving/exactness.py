"""Every answer of a question beside the batch query over the tuples of its point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pyarrow as pa

from headway.early.read.total import is_ordered
from headway.engine.early.asking import Asking
from headway.engine.early.proving.oracle import (
    QUICKLY,
    answer_by_batch,
    differs,
    order_differs,
)
from headway.engine.early.views import analysed
from headway.engine.spark.session import set_for_now

SIDE_BY_SIDE = 2  # batch queries over little data: to plan one takes longer than to run it


def names_differ(found: pa.Table, names: Sequence[str]) -> str | None:
    """How columns of an answer are called otherwise than those of the question, or None."""
    if found.column_names == list(names):
        return None
    return f"columns {found.column_names} instead of {list(names)}"


def check_points(asking: Asking, sql: str) -> Iterator[tuple[int, str]]:
    """The points whose answer is not what a batch query gives, and how it differs.

    Rows are compared as a bag, and where the question orders them in their order, too.
    """
    answers = list(asking)
    session = asking.tables.session
    names = analysed(session, asking.tables.unread(sql)).columns
    with set_for_now(session, QUICKLY), ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        right = pool.map(partial(answer_by_batch, asking.tables, sql), (a.point for a in answers))
        for answer, wanted in zip(answers, right, strict=True):
            difference = names_differ(answer.table, names) or differs(answer.table, wanted)
            if difference is None and is_ordered(sql):
                difference = order_differs(answer.table, wanted)
            if difference is not None:
                yield answer.point, difference

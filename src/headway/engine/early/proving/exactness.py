"""Every answer of a question beside the batch query over the tuples of its point."""

from __future__ import annotations

from collections.abc import Iterator

from headway.engine.early.asking import Asking
from headway.engine.early.proving.oracle import QUICKLY, answer_by_batch, differs
from headway.engine.spark.session import set_for_now


def check_points(asking: Asking, sql: str) -> Iterator[tuple[int, str]]:
    """The points whose answer is not what a batch query gives, and how it differs."""
    answers = list(asking)
    with set_for_now(asking.tables.session, QUICKLY):
        for answer in answers:
            difference = differs(answer.table, answer_by_batch(asking.tables, sql, answer.point))
            if difference is not None:
                yield answer.point, difference

"""Every answer of a question beside the batch query over the tuples of its point."""

from __future__ import annotations

from collections.abc import Iterator

from headway.engine.early.ask import Asking
from headway.engine.early.proving.oracle import QUICKLY, answer_by_batch, differs


def check_points(asking: Asking, sql: str) -> Iterator[tuple[int, str]]:
    """The points whose answer is not what a batch query gives, and how it differs."""
    answers = list(asking)
    session = asking.tables.session
    before = {name: session.conf.get(name, None) for name in QUICKLY}
    for name, value in QUICKLY.items():
        session.conf.set(name, value)
    for answer in answers:
        difference = differs(answer.table, answer_by_batch(asking.tables, sql, answer.point))
        if difference is not None:
            yield answer.point, difference
    for name, known in before.items():
        if known is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, known)

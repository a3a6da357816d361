"""Two sets of answers compared batch by batch, as multisets: what is missing, what is too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headway.engine.reference.run import Answer

Row = tuple[tuple[str, Any], ...]
SHOWN = 3
DIGITS = 12  # of a double that was summed up in another order


@dataclass(frozen=True, slots=True)
class Difference:
    """Answers that are missing, and answers that should not be there, each with its batch."""

    lost: Counter[tuple[int, Row]]
    doubled: Counter[tuple[int, Row]]

    def __bool__(self) -> bool:
        return bool(self.lost or self.doubled)

    def __str__(self) -> str:
        if not self:
            return "no difference"
        return f"{shown('lost', self.lost)}; {shown('too many', self.doubled)}"


def compare(wanted: Iterable[Answer], found: Iterable[Answer]) -> Difference:
    """What must be added to `found`, and what taken away, to make it `wanted`.

    >>> said = [Answer(0, {"n": 1}), Answer(1, {"n": 1})]
    >>> print(compare(wanted=said, found=[*said, said[1]]))
    0 lost; 1 too many, such as (1, (('n', 1),))
    """
    expected, seen = multiset(wanted), multiset(found)
    return Difference(expected - seen, seen - expected)


def multiset(answers: Iterable[Answer]) -> Counter[tuple[int, Row]]:
    """Answers as values that can be counted."""
    return Counter((answer.batch, canonical(answer.row)) for answer in answers)


def canonical(row: dict[str, Any]) -> Row:
    """A row as a value, the same whatever the order of its columns."""
    return tuple(sorted((name, plain(value)) for name, value in row.items()))


def plain(value: Any) -> Any:
    """A value in the one form that both engines agree on."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    return tuple(map(plain, value)) if isinstance(value, list) else value


def shown(what: str, rows: Counter[tuple[int, Row]]) -> str:
    """A count of rows, with a few of them."""
    some = ", ".join(str(row) for row in list(rows)[:SHOWN])
    return f"{rows.total()} {what}" + (f", such as {some}" if some else "")

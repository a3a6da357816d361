"""What a page tells of a question: its answers over progress, and the last of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnsweredPoint:
    """One answer: how much of the data it was over, when it came, and how many rows it had."""

    point: int
    progress: float
    at_s: float
    rows: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The value of one row at each answered point; None where the row was not there."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answers, as the page shows them."""

    sql: str
    ending: str
    points: int
    answered: tuple[AnsweredPoint, ...]
    measure: str
    curves: tuple[Curve, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    rules: str

"""Take answers as they come until they are final, stable, or enough; and tell each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from headway.cli.asking.stable import movement
from headway.clock import Clock
from headway.engine.early.answers import Answer

Ending = Literal["final", "stable", "stopped"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer as it was told: when it came after the question, and how far it had moved."""

    point: int
    points: int
    progress: float
    table: pa.Table
    at_s: float
    moved: float | None = None


@dataclass(frozen=True, slots=True)
class Followed:
    """How a question ended, and the answers that were told up to there."""

    seen: tuple[Seen, ...]
    ending: Ending

    @property
    def last(self) -> Seen:
        return self.seen[-1]


Tell = Callable[[Seen], None]


def follow(
    answers: Iterable[Answer],
    tell: Tell,
    clock: Clock,
    until: float | None,
    shown: Callable[[Answer], pa.Table] = lambda answer: answer.table,
) -> Followed:
    """Tell each answer, up to the final one or the first that moved less than `until`.

    Where it stops depends on the answers alone, so a question that is asked again stops there too.
    """
    begun_s = clock.steady_s()
    seen: list[Seen] = []
    try:
        for answer in answers:
            now_s = clock.steady_s() - begun_s
            moved = None if until is None else moved_since(seen, answer)
            seen.append(
                Seen(answer.point, answer.points, answer.progress, shown(answer), now_s, moved)
            )
            tell(seen[-1])
            if until is not None and moved is not None and moved < until and not answer.is_final:
                return Followed(tuple(seen), "stable")
    except KeyboardInterrupt:
        if not seen:
            raise
        return Followed(tuple(seen), "stopped")
    return Followed(tuple(seen), "final")


def moved_since(seen: list[Seen], answer: Answer) -> float | None:
    """How far an answer moved; None where no tuple came, since then standing still says nothing."""
    if not seen or answer.progress <= seen[-1].progress:
        return None
    return movement(seen[-1].table.select(answer.table.column_names), answer.table)


def ending_text(followed: Followed) -> str:
    """How a question ended, in words."""
    last = followed.last
    where = f"point {last.point + 1} of {last.points}, {share_text(last.progress)} of the tuples"
    if followed.ending == "final":
        return "the final answer, over all tuples"
    if followed.ending == "stable":
        return f"stable at {where}: it moved {share_text(last.moved or 0.0)}"
    return f"stopped at {where}"


def share_text(share: float) -> str:
    """A share as people read it; only all of it is 100%.

    >>> share_text(0.35), share_text(0.0012), share_text(0.99999), share_text(1)
    ('35%', '0.12%', '99.9%', '100%')
    """
    if share >= 1:
        return f"{share * 100:.0f}%"
    return f"{min(share * 100, 99.9):.3g}%"

"""Sessions of clicks: one user's clicks with no pause longer than a gap (paper 1, evaluation)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from headway.flow.pairs import Emitted, Pair
from headway.flow.stream import Stream
from headway.units import Duration, parse_micros

GAP = "30min"

Session = tuple[float, float, int]  # first and last click in seconds, number of clicks


def user_sessions(clicks: Stream, gap: Duration = GAP) -> Stream:
    """Sessions that have ended (`time`, `key`: the user, `clicks`, `start`, `seconds`).

    There is no exact native form: Spark's `session_window` waits for the watermark, so it answers
    late and not by the user's own next click, and real-time mode refuses it.
    """
    return clicks.pair(Sessions(gap))


@dataclass(frozen=True)
class Sessions(Pair):
    """Tells a session when its user clicks again after more than `gap`.

    A click out of order that lies within `gap` of the session extends it at either end. One older
    than that belongs to a session told before, and is told as a session of its own: so the clicks
    told and those of open sessions always add up to the clicks received. The last session of a user
    stays open. An answer's time is that of the click which made it known.

    There is no merge: two parts of a user's clicks may hold several sessions, a state holds one.
    """

    emits: ClassVar[str] = "clicks bigint, start timestamp, seconds double"
    gap: Duration = GAP

    def __post_init__(self) -> None:
        if self.gap_us <= 0:
            raise ValueError(f"the gap must be positive; got {self.gap!r}")

    @cached_property
    def gap_us(self) -> int:
        """The longest pause within a session, whole so that it is compared exactly."""
        return parse_micros(self.gap, "gap")

    def map(self, time: float, key: Any, value: dict[str, Any]) -> Emitted:
        """One click of one user; what was clicked does not matter."""
        yield time, value["user"], 1

    def init(self, key: str) -> Session | None:
        """A user who never clicked has no session."""
        return None

    def update(
        self, time: float, key: str, value: int, state: Session | None
    ) -> tuple[Session, Emitted]:
        """Extend the user's session, or tell it and begin another."""
        fresh = (time, time, value)
        if state is None:
            return fresh, ()
        first, last, clicks = state
        if round((time - last) * 1e6) > self.gap_us:
            return fresh, [(time, key, describe_session(state))]
        if round((first - time) * 1e6) > self.gap_us:
            return state, [(time, key, describe_session(fresh))]
        return (min(first, time), max(last, time), clicks + value), ()


def describe_session(session: Session) -> tuple[int, datetime, float]:
    """The columns of an answer: clicks, start, and seconds from the first click to the last."""
    first, last, clicks = session
    return clicks, datetime.fromtimestamp(first, UTC), round(last - first, 6)

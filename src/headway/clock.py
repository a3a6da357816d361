"""The only place that asks what time it is or waits; everything else is handed a clock."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What a part of headway may know about time."""

    def now_us(self) -> int:
        """Wall-clock time in microseconds since 1970; may step back when the host's clock does."""
        ...

    def steady_s(self) -> float:
        """Seconds that only ever grow; for intervals, never for timestamps."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...


class SystemClock:
    """The host's own clock."""

    def now_us(self) -> int:
        """Wall-clock time in microseconds since 1970."""
        return time.time_ns() // 1_000

    def steady_s(self) -> float:
        """Seconds that only ever grow."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block the calling thread for `seconds`."""
        if seconds > 0:
            time.sleep(seconds)

"""Which chunks a question is answered in: decided once, and the same for all its stages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from headway.clock import Clock
from headway.early.chunks import Budget, Chunk, Size, Spent, next_chunk


@dataclass(frozen=True, slots=True)
class Way:
    """How answers are paced: by a budget or in chunks of a fixed size, stages at once or not."""

    budget: Budget
    chunk: int | None
    clock: Clock
    at_once: bool = True

    def next(self, size: Size, done: list[Spent], forgets: bool) -> Chunk | None:
        """The next chunk, or None after the last point."""
        if self.chunk is None:
            return next_chunk(size, done, replace(self.budget, forgets=forgets))
        first = done[-1].chunk.last + 1 if done else 0
        last = min(len(size.shares), first + self.chunk) - 1
        return Chunk(first, last) if first <= last else None


class Schedule:
    """The chunks so far and what they took; the next one is decided by whoever gets there first."""

    def __init__(self, way: Way, size: Size, forgets: Callable[[], bool]) -> None:
        self._way, self._size, self._forgets = way, size, forgets
        self._chunks: list[Chunk] = []
        self._took_s: list[float] = []
        self._lock = threading.Lock()

    def begin_with(self, chunks: Iterable[Chunk]) -> None:
        """Chunks that an earlier run decided and computed."""
        for chunk in chunks:
            self._chunks.append(chunk)
            self._took_s.append(0.0)

    def chunk(self, n: int) -> Chunk | None:
        """The n-th chunk, or None after the last point."""
        with self._lock:
            if n == len(self._chunks):
                # The first answer is of one point whatever the rules: it does not wait for them.
                forgets = bool(self._chunks) and self._forgets()
                found = self._way.next(self._size, self._spent(), forgets)
                if found is not None:
                    self._chunks.append(found)
                    self._took_s.append(0.0)
            return self._chunks[n] if n < len(self._chunks) else None

    def settled(self, n: int) -> Chunk | None:
        """The n-th chunk, if it does not depend on what those before it take."""
        return self.chunk(n) if self._way.chunk is not None else None

    def took(self, n: int, measured_s: float) -> None:
        """One stage has computed the n-th chunk."""
        with self._lock:
            self._took_s[n] += measured_s

    @property
    def spent(self) -> tuple[Spent, ...]:
        """The chunks that were decided so far, and what all stages took for each."""
        with self._lock:
            return tuple(self._spent())

    def _spent(self) -> list[Spent]:
        return [Spent(*one) for one in zip(self._chunks, self._took_s, strict=True)]

"""What one stage hands to the next: chunks in order of progress, few of them waiting at a time.

A stage that is ahead waits until those that read it have caught up (paper 5, section 3.3: data
flows between jobs through blocking queues).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from headway.early.chunks import Chunk
from headway.errors import HeadwayError

BOUND = 2


class Part(Protocol):
    """The rows of one chunk, wherever they are kept."""

    @property
    def chunk(self) -> Chunk: ...
    def read(self, spark: SparkSession) -> DataFrame: ...
    def compute(self) -> None: ...
    def drop(self) -> None: ...


class Stopped(HeadwayError):  # noqa: N818, RUF100 - no error, but the end
    """Nobody asks for more."""


class Handed:
    """The chunks that a stage has handed over; at most `bound` of them wait to be read.

    Where rows are handed over once (`keeps`), a reader is given all parts so far, and none is
    dropped before the end. Of each reader it is known which chunk it begins with. A reader whose
    own rows are computed later makes room when they are planned (`done`), and needs the part until
    they are computed (`let_go`).
    """

    def __init__(self, readers: Sequence[int], keeps: bool, bound: int = BOUND) -> None:
        self._readers, self._keeps, self._bound = readers, keeps, bound
        self._parts: dict[int, Part] = {}
        self._done: Counter[int] = Counter()
        self._let_go: Counter[int] = Counter()
        self._error: BaseException | None = None
        self._stopped = False
        self._changed = threading.Condition()
        self.most_waiting = 0

    def wait_for_room(self) -> None:
        """Return when one more chunk may be handed over."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._waiting() < self._bound)
            self._check()

    def put(self, n: int, part: Part) -> None:
        """Hand over the n-th chunk."""
        with self._changed:
            self._parts[n] = part
            self.most_waiting = max(self.most_waiting, self._waiting())
            self._changed.notify_all()

    def take(self, n: int) -> tuple[Part, ...]:
        """The rows that the n-th chunk is computed from, as soon as they are there."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._error or n in self._parts)
            if self._stopped or n not in self._parts:  # what is there does not fail by what is not
                self._check()
            wanted = range(n + 1) if self._keeps else range(n, n + 1)
            return tuple(self._parts[one] for one in wanted if one in self._parts)

    def done(self, n: int) -> None:
        """One reader has planned the n-th chunk, or computed it, and is ready for another."""
        with self._changed:
            self._done[n] += 1
            self._changed.notify_all()

    def let_go(self, n: int) -> None:
        """One reader has computed the n-th chunk; what nobody needs any more is dropped."""
        with self._changed:
            self._let_go[n] += 1
            needed = self._keeps or self._let_go[n] < self._readers_of(n)
            part = None if needed else self._parts.pop(n, None)
        if part is not None:
            part.drop()

    def fail(self, error: BaseException) -> None:
        """The stage failed: those that wait for it are told why."""
        with self._changed:
            self._error = error
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Drop all that is left."""
        for n in list(self._parts):
            self._parts.pop(n).drop()

    def _waiting(self) -> int:
        return sum(1 for n in self._parts if self._is_waited_for(n))

    def _is_waited_for(self, n: int) -> bool:
        return self._done[n] < self._readers_of(n)

    def _readers_of(self, n: int) -> int:
        return sum(1 for begin in self._readers if begin <= n)

    def _check(self) -> None:
        if self._stopped:
            raise Stopped("nobody asks for more")
        if self._error is not None:
            raise self._error

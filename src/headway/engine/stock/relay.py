"""Queries that run at once take turns, a batch each, so that what disturbs one disturbs all.

    headway   ##--------##--------##---     # works on a batch
    by hand   --####------####------###     - waits in its sink, its last answers out

What a batch leaves behind in caches and compilers falls on the next one, so from round to round
the others go in turned order: each follows every other as often.

A contestant's batch is timed from when it is let go on to when its next answers are out: commit,
planning, reading, computing and publishing, and nothing of the others' work.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence


class Relay:
    """One baton among several contestants; it goes round once all have arrived."""

    def __init__(self, names: Sequence[str]) -> None:
        self._order = list(names)
        self._absent = set(names)
        self._holder: str | None = None
        self._moved = threading.Condition()

    def hand_on(self, name: str) -> None:
        """Give the baton to the next one, and return when it has come back."""
        with self._moved:
            self._absent.discard(name)
            if self._holder == name:
                self._holder = self._after(name)
            self._begin_when_all_are_here()
            self._moved.notify_all()
            self._moved.wait_for(lambda: self._holder == name)

    def leave(self, name: str) -> None:
        """Take no more turns; the others go on without this one."""
        with self._moved:
            if name not in self._order:
                return
            after = self._after(name)
            self._order.remove(name)
            self._absent.discard(name)
            if self._holder == name:
                self._holder = after if self._order else None
            self._begin_when_all_are_here()
            self._moved.notify_all()

    def _begin_when_all_are_here(self) -> None:
        if self._holder is None and not self._absent and self._order:
            self._holder = self._order[0]

    def _after(self, name: str) -> str:
        place = self._order.index(name) + 1
        if place < len(self._order):
            return self._order[place]
        first, *others = self._order
        self._order = [first, *reversed(others)]
        return first

"""A pipeline of three questions timed: its stages at once, in turn, in memory and on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headway.clock import Clock
from headway.engine.early.ask import ask
from headway.engine.early.asking import Asking
from headway.engine.early.storage import Stored


@dataclass(frozen=True, slots=True)
class Ran:
    """When answers were there, in seconds from the start, and digests of all of them."""

    first_s: float
    total_s: float
    fingerprints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThreeStages:
    """Questions that feed each other: the name that each is read under, and its SQL."""

    stages: tuple[tuple[str, str], ...]
    tables: Mapping[str, Stored]
    clock: Clock
    chunk: int = 1

    def asked(self, folder: Path | None = None, at_once: bool = True) -> Asking:
        """The last question, fed by the others; with a folder, all are kept on disk."""
        known: dict[str, Stored | Asking] = dict(self.tables)
        for name, sql in self.stages:
            place = folder / name if folder is not None else None
            asking = ask(
                sql, known, chunk=self.chunk, folder=place, clock=self.clock, at_once=at_once
            )
            known[name] = asking
        return asking

    def timed(self, folder: Path | None = None, at_once: bool = True) -> Ran:
        """All answers of the last stage."""
        begun, first_s, told = self.clock.steady_s(), 0.0, []
        for answer in self.asked(folder, at_once):
            first_s = first_s or self.clock.steady_s() - begun
            told.append(answer.fingerprint)
        return Ran(first_s, self.clock.steady_s() - begun, tuple(told))

    def first_stage_s(self) -> float:
        """When the first stage alone has its first answer."""
        _, sql = self.stages[0]
        begun = self.clock.steady_s()
        next(iter(ask(sql, self.tables, chunk=self.chunk, clock=self.clock)))
        return self.clock.steady_s() - begun

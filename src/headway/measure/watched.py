"""Batches of a query that headway did not write: what can be seen of them from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from headway.measure.phases import UNEXPLAINED, fitted

# In the order in which a batch goes through them.
WATCHED = {
    "source": "Spark asks the source how far it reaches",
    "offsets": "what the batch takes is logged",
    "planning": "Spark plans the batch",
    "launch": "tasks are started",
    "map": "records are read and mapped",
    "shuffle write": "rows are written for the reducers",
    "fetch": "reducers wait for rows",
    "reduce": "rows are put together with the states",
    "state": "states are brought to disk",
    "collect": "what is left of the batch after its last task",
    "commit": "the end of the batch is logged",
    UNEXPLAINED: "what nothing accounts for",
}
DURATIONS = {  # of Spark's progress events
    "latestOffset": "source", "getOffset": "source", "walCommit": "offsets",
    "getBatch": "planning", "queryPlanning": "planning", "commitOffsets": "commit",
    "commitBatch": "commit",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WatchedBatch:
    """One batch: how long it took, how many records it had where that is told, and on what.

    `idle_s` is the time between the batch before and this one.
    """

    batch: int
    started_s: float
    took_s: float
    rows: int | None = None
    idle_s: float | None = None
    phases_s: Mapping[str, float] = field(default_factory=dict)
    tasks: int = 0
    staged: bool = False  # whether its stages were seen


def batch_phases(
    durations_ms: Mapping[str, float], within: Mapping[str, float], took_s: float
) -> dict[str, float]:
    """A batch's time by phase, from its progress event and, where they are known, its stages.

    >>> batch_phases({"walCommit": 20, "addBatch": 70}, {"map": 0.04}, 0.1)["unexplained"]
    0.04
    """
    known = dict.fromkeys(WATCHED, 0.0)
    for name, ms in durations_ms.items():
        if name in DURATIONS:
            known[DURATIONS[name]] += ms / 1e3
    add_s = durations_ms.get("addBatch", 0.0) / 1e3
    for name, part in fitted(within, add_s).items():
        known[name] += part
    known = fitted(known, took_s)
    known[UNEXPLAINED] = round(max(0.0, took_s - sum(known.values())), 6)
    return known


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen of a query: its batches, and the settings that it runs with, if they are known.

    `missing` says what could not be seen, and why.
    """

    name: str
    batches: Sequence[WatchedBatch]
    settings: Mapping[str, str] = field(default_factory=dict)
    cores: int | None = None
    missing: tuple[str, ...] = ()

    @property
    def took_s(self) -> float:
        """How long a batch takes, typically."""
        return median([batch.took_s for batch in self.batches]) if self.batches else 0.0

    @property
    def phases_s(self) -> dict[str, float]:
        """The mean time of a batch in each phase."""
        # Where the stages of some batches were seen, those tell; the others know less.
        staged = [batch for batch in self.batches if batch.staged]
        known = [batch.phases_s for batch in staged or self.batches if batch.phases_s]
        if not known:
            return {}
        return {name: sum(p.get(name, 0.0) for p in known) / len(known) for name in known[0]}

    def share(self, *names: str) -> float:
        """The share of a batch's time that some phases take."""
        phases = self.phases_s
        whole = sum(phases.values())
        return sum(phases.get(name, 0.0) for name in names) / whole if whole else 0.0

    @property
    def rows(self) -> int | None:
        """How many records a batch has, typically."""
        known = [batch.rows for batch in self.batches if batch.rows is not None]
        return round(median(known)) if known else None

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        idle = [batch.idle_s for batch in self.batches if batch.idle_s is not None]
        return {
            "name": self.name,
            "batches": len(self.batches),
            "took_s": round(self.took_s, 4),
            "took_s_max": round(max((b.took_s for b in self.batches), default=0.0), 4),
            "idle_s": round(median(idle), 4) if idle else None,
            "rows": self.rows,
            "phases_s": {name: round(spent, 4) for name, spent in self.phases_s.items()},
            "missing": list(self.missing),
        }

"""What a batch was decided to do, as the offset that Spark logs before it runs the batch.

    {"tweets": {"0": 1200}, "headway": {"t0_us": ..., "wm_ms": ..., "ended": 0, ...}}

The topic's positions stand under its name, in the form that Kafka's own source uses; what headway
decided stands beside them. After a crash Spark replays the offset, so the decision is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headway.engine.topics.port import Position

NATIVE = "real-time mode"  # why there is no decision: Kafka's own source wrote the offset


@dataclass(frozen=True, slots=True)
class Decision:
    """All that decides what a batch does, beside where it starts.

    begin        where the run began to read
    t0_us        when the run began, from which a replay counts; 0 before the first batch
    at_us        when it was decided: the ages of the batch's records are taken at that instant
    wm_ms        the watermark while the batch runs: windows that end by then are closed
    ended        how often the end of the topic was marked: again after a restart, where several
                 sources share a watermark, since Spark then forgets what each of them had reached
    """

    begin: Position
    t0_us: int = 0
    at_us: int = 0
    wm_ms: int = 0
    ended: int = 0
    readers: int = 1
    interval_us: int = 0
    max_rows: int | None = None
    because: str = "start"


@dataclass(frozen=True, slots=True)
class GateOffset:
    """How far a source was admitted, and by which decision."""

    source: str
    position: Position
    decision: Decision

    def to_dict(self) -> dict[str, Any]:
        """The offset as Spark stores it."""
        decided = self.decision
        return {
            self.source: dict(self.position),
            "headway": {
                "begin": decided.begin,
                "t0_us": decided.t0_us,
                "at_us": decided.at_us,
                "wm_ms": decided.wm_ms,
                "ended": decided.ended,
                "readers": decided.readers,
                "interval_us": decided.interval_us,
                "max_rows": -1 if decided.max_rows is None else decided.max_rows,
                "because": decided.because,
            },
        }

    @classmethod
    def from_dict(
        cls, source: str, found: dict[str, Any], begin: Position | None = None
    ) -> GateOffset:
        """Read an offset back; one of Kafka's own source has no decision and no beginning."""
        if "headway" not in found:
            plain = Decision(begin or {}, t0_us=1, because=NATIVE)
            return cls(source, found[source], plain)
        decided = dict(found["headway"])
        rows = decided.pop("max_rows")
        return cls(source, found[source], Decision(**decided, max_rows=None if rows < 0 else rows))

    def moved(self, position: Position, **decided: Any) -> GateOffset:
        """The next offset."""
        return GateOffset(self.source, position, replace(self.decision, **decided))

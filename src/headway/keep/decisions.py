"""What the keeper decided, what it expected, and what came of it: a line each in the run's log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

from headway.model.candidate import Candidate

DECISIONS = "decisions.jsonl"  # in the folder of a run


@dataclass(frozen=True, slots=True)
class Audit:
    """A prediction and what was measured after it, at the rate that was measured with it."""

    predicted_s: float
    low_s: float
    high_s: float
    measured_s: float

    @property
    def within(self) -> bool:
        """Whether the truth lay where it was expected.

        >>> Audit(1.0, 0.9, 1.1, 1.05).within
        True
        """
        return self.low_s <= self.measured_s <= self.high_s

    def __str__(self) -> str:
        how = "as expected" if self.within else "not as expected"
        return (
            f"measured {self.measured_s:.3g} s, {how}: {self.predicted_s:.3g} s "
            f"({self.low_s:.3g} to {self.high_s:.3g})"
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """One pass of the keeper.

    action      'keep', 'change', 'would change' (passive), 'wait' (nothing known yet)
    candidate   what is in force after it
    expected_s  what is foretold of it; in the log None where nothing is, or where it has no end
    audit       of what the pass before had foretold
    """

    at_s: float
    rate_per_s: float
    action: str
    because: str
    candidate: Candidate
    expected_s: float | None = None
    audit: Audit | None = None

    def to_json(self) -> str:
        """The decision as it stands in the log."""
        kept = asdict(self)
        if self.expected_s is not None and not isfinite(self.expected_s):
            kept["expected_s"] = None
        return json.dumps(kept, separators=(",", ":"), allow_nan=False)


def write_decision(path: Path, decision: Decision) -> None:
    """Add a decision to a log."""
    with path.open("a") as file:
        file.write(decision.to_json() + "\n")


def read_decisions(path: Path) -> Iterator[Decision]:
    """The decisions of a log; a line that a crash cut short is passed over."""
    if not path.exists():
        return
    for text in path.read_text().splitlines():
        try:
            kept = json.loads(text)
            audit = Audit(**kept.pop("audit")) if kept["audit"] else kept.pop("audit")
            candidate = Candidate(**kept.pop("candidate"))
            yield Decision(**kept, candidate=candidate, audit=audit)
        except (ValueError, KeyError, TypeError):
            continue

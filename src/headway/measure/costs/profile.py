"""What a job costs, learned from the log of a run: the file that the planner reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from headway.errors import RunError
from headway.measure.batches import BatchLine
from headway.measure.costs.batches import BatchCosts, batch_costs
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.stores import Store
from headway.measure.costs.stretches import StreamCosts, stream_costs
from headway.measure.moments import Moments

VERSION = 8
PROFILES = Path(".headway") / "profiles"  # where `headway profile` keeps what it learned


@dataclass(frozen=True, slots=True)
class JobProfile:
    """What was learned of a flow, in each of the modes that it ran in, on some lanes."""

    flow: str
    lanes: Lanes = field(default_factory=Lanes)
    batch: BatchCosts = field(default_factory=BatchCosts)
    stream: StreamCosts = field(default_factory=StreamCosts)

    @property
    def empty(self) -> bool:
        """Whether nothing was learned."""
        return not self.batch.batches and not self.stream.stretches

    @property
    def arrivals(self) -> Moments:
        """How records came: as the gate saw it, or as real-time mode did."""
        return self.batch.arrivals if self.batch.arrivals.count else self.stream.arrivals

    def batch_s(self, rows: float, readers: int | None = None, store: Store | None = None) -> float:
        """How long a batch of so many records takes on the lanes of this profile."""
        wanted = self.lanes.cores if readers is None else readers
        return self.batch.batch_s(replace(self.batch.size(rows, wanted, self.lanes), store=store))

    def together(self, newer: JobProfile, keep: float = 0.5) -> JobProfile:
        """What was known and what was learned since; the former counts by the share `keep`.

        What the newer one says nothing about stays as it was. A profile of other lanes is another
        one: the newer is returned.
        """
        if self.lanes != newer.lanes or self.flow != newer.flow:
            return newer
        batch, stream = self.batch, self.stream
        if newer.batch.batches:
            batch = batch.together(newer.batch, keep)
        if newer.stream.stretches:
            stream = stream.together(newer.stream, keep)
        return replace(newer, batch=batch, stream=stream)

    def filled_by(self, other: JobProfile) -> JobProfile:
        """This profile, with what it says nothing about: a mode, a store, how records came."""
        if (self.flow, self.lanes) != (other.flow, other.lanes):
            return self
        batch = self.batch.filled_by(other.batch) if self.batch.batches else other.batch
        if not batch.arrivals.count:
            batch = replace(batch, arrivals=other.batch.arrivals)
        stream = self.stream if self.stream.stretches else other.stream
        return replace(self, batch=batch, stream=stream)

    def as_dict(self) -> dict[str, Any]:
        """The profile as it is kept."""
        return {
            "version": VERSION,
            "flow": self.flow,
            "lanes": asdict(self.lanes),
            "batch": self.batch.as_dict(),
            "stream": self.stream.as_dict(),
        }

    def save(self, path: Path) -> Path:
        """Keep the profile in a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.as_dict(), indent=1))
        return path


def load_profile(path: Path) -> JobProfile:
    """Read a profile from its file."""
    try:
        kept = json.loads(path.read_text())
        if kept.get("version") != VERSION:
            raise ValueError(f"it has version {kept.get('version')}, and {VERSION} is what is read")
        return JobProfile(
            kept["flow"],
            Lanes(**kept["lanes"]),
            BatchCosts.from_dict(kept["batch"]),
            StreamCosts.from_dict(kept["stream"]),
        )
    except FileNotFoundError:
        raise RunError(f"there is no profile {path}; make one with `headway profile`") from None
    except (AttributeError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} is no profile of headway's ({error}); make it again") from error


def profile_of(lines: Iterable[BatchLine], flow: str, mode: str, lanes: Lanes) -> JobProfile:
    """What the batches of a run in one mode teach."""
    if mode == "real-time":
        return JobProfile(flow, lanes, stream=stream_costs(lines))
    return JobProfile(flow, lanes, batch=batch_costs(lines, lanes))

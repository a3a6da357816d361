"""What a job costs: each phase as a function of a batch's size, learned from the log of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headway.errors import RunError
from headway.measure.batches import BatchLine
from headway.measure.costs.fits import Fit, Growth
from headway.measure.moments import Moments

NOT_COSTS = ("queue", "wait", "down", "pause")  # how long a record waits is no cost of the job
VERSION = 1


@dataclass(frozen=True, slots=True)
class JobProfile:
    """What was learned of a flow in one mode.

    phases_s      seconds of a batch in each phase, over its records
    keys          distinct keys that a batch changes, over its records
    answers       answers of a batch, over its records
    task_s        seconds that the tasks of a batch run, together, over its records
    shuffle_bytes bytes that a batch sends to its reducers, over its records
    memory_bytes  memory that the state store takes, over the keys that are kept
    moments       of the times between arrivals, and of service
    """

    flow: str
    mode: str
    batches: int = 0
    records: int = 0
    phases_s: Mapping[str, Fit] = field(default_factory=dict)
    keys: Growth = field(default_factory=Growth)
    answers: Fit = field(default_factory=Fit)
    task_s: Fit = field(default_factory=Fit)
    shuffle_bytes: Fit = field(default_factory=Fit)
    memory_bytes: Fit = field(default_factory=Fit)
    moments: Mapping[str, Moments] = field(default_factory=dict)

    def seen(self, line: BatchLine) -> JobProfile:
        """The profile with one more batch; one that tells nothing changes nothing."""
        if not line.rows or not line.phases:
            return self
        costs = {n: p["mean"] for n, p in line.phases.items() if n not in NOT_COSTS}
        known = dict(self.phases_s)
        for name, spent_s in costs.items():
            known[name] = known.get(name, Fit()).seen(line.rows, spent_s)
        learned = {
            name: Moments.together([self.moments.get(name, Moments()), Moments.from_dict(found)])
            for name, found in line.moments.items()
        }
        work = line.work
        return replace(
            self,
            batches=self.batches + 1,
            records=self.records + line.rows,
            phases_s=known,
            keys=self.keys.seen(line.rows, work.get("keys", 0.0)),
            answers=self.answers.seen(line.rows, line.answers),
            task_s=self._with(self.task_s, line.rows, work, "task_s"),
            shuffle_bytes=self._with(self.shuffle_bytes, line.rows, work, "shuffle_bytes"),
            memory_bytes=self._with(self.memory_bytes, work.get("states", 0), work, "memory_bytes"),
            moments={**self.moments, **learned},
        )

    @staticmethod
    def _with(fit: Fit, x: float, work: Mapping[str, float], name: str) -> Fit:
        return fit.seen(x, work[name]) if name in work else fit

    def batch_s(self, rows: float) -> float:
        """How long a batch of so many records takes, once it is decided."""
        return sum(fit.at(rows) for fit in self.phases_s.values())

    def together(self, newer: JobProfile, keep: float = 0.5) -> JobProfile:
        """What was known and what was learned since; the former counts by the share `keep`."""
        names = dict.fromkeys([*self.phases_s, *newer.phases_s])
        fits = {
            name: self.phases_s.get(name, Fit()).together(newer.phases_s.get(name, Fit()), keep)
            for name in names
        }
        moments = {
            name: Moments.together(
                [self.moments.get(name, Moments()).faded(keep), newer.moments.get(name, Moments())]
            )
            for name in dict.fromkeys([*self.moments, *newer.moments])
        }
        return replace(
            newer,
            batches=self.batches + newer.batches,
            records=self.records + newer.records,
            phases_s=fits,
            keys=Growth(self.keys.logs.together(newer.keys.logs, keep)),
            answers=self.answers.together(newer.answers, keep),
            task_s=self.task_s.together(newer.task_s, keep),
            shuffle_bytes=self.shuffle_bytes.together(newer.shuffle_bytes, keep),
            memory_bytes=self.memory_bytes.together(newer.memory_bytes, keep),
            moments=moments,
        )

    def as_dict(self) -> dict[str, Any]:
        """The profile as it is kept."""
        single = ("answers", "task_s", "shuffle_bytes", "memory_bytes")
        return {
            "version": VERSION, "flow": self.flow, "mode": self.mode, "batches": self.batches,
            "records": self.records,
            "phases_s": {name: fit.as_dict() for name, fit in self.phases_s.items()},
            "keys": self.keys.logs.as_dict(),
            **{name: getattr(self, name).as_dict() for name in single},
            "moments": {name: found.as_dict() for name, found in self.moments.items()},
        }  # fmt: skip

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> JobProfile:
        """Read what was kept."""
        single = ("answers", "task_s", "shuffle_bytes", "memory_bytes")
        return cls(
            kept["flow"],
            kept["mode"],
            int(kept["batches"]),
            int(kept["records"]),
            {name: Fit(**fit) for name, fit in kept["phases_s"].items()},
            Growth(Fit(**kept["keys"])),
            **{name: Fit(**kept[name]) for name in single},
            moments={name: Moments.from_dict(each) for name, each in kept["moments"].items()},
        )

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
        return JobProfile.from_dict(kept)
    except FileNotFoundError:
        raise RunError(f"there is no profile {path}; make one with `headway profile`") from None
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} is no profile of headway's ({error}); make it again") from error


def profile_of(lines: Iterable[BatchLine], flow: str, mode: str) -> JobProfile:
    """What the batches of a run teach."""
    profile = JobProfile(flow, mode)
    for line in lines:
        profile = profile.seen(line)
    return profile

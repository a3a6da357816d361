"""A run as a value that another process can carry out, and how it reports back."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.engine.spark.settings import Settings
from headway.flow.graph import Flow
from headway.measure.account import Account


@dataclass(frozen=True, slots=True)
class Job:
    """A flow to be run in a child process.

    until_records  stop once so many records are answered or quarantined; None runs to the end
    die_at         "stage:count": kill the whole process group there (see engine/faults.py)
    """

    flow: Flow
    folder: Path
    settings: Settings = field(default_factory=Settings)
    until_records: int | None = None
    die_at: str | None = None

    def enough(self, account: Account) -> bool:
        """Whether the job has answered what it was to answer, and may stop."""
        done = account.answered + account.quarantined
        return self.until_records is not None and done >= self.until_records

    def save(self, path: Path) -> None:
        """Write the job to a file; pairs and makers in it must be importable by name."""
        path.write_bytes(pickle.dumps(self))

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read a job that `save` wrote."""
        found: Job = pickle.loads(path.read_bytes())
        return found


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended: 'done', 'failed' with headway's error, or 'killed'."""

    how: str
    account: Account = field(default_factory=Account)
    error: str = ""
    text: str = ""


def tell(path: Path, **said: Any) -> None:
    """Append one line to a child's report."""
    with path.open("a") as file:
        file.write(json.dumps(said) + "\n")


def told(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a child's report so far; one that is still being written is left out."""
    if path.exists():
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)

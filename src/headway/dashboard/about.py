"""What a report says of a run beyond its batches, kept as a small file beside the log."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from headway.errors import RunError
from headway.measure.account import Account

ABOUT_FILE = "about.json"


@dataclass(frozen=True, slots=True)
class RunAbout:
    """A run's facts as text and totals; times are seconds since 1970.

    title       one line that says what ran
    flow        the flow, a step a line
    goal        the goal as it was written, if there was one
    folder      where the run keeps its log and checkpoint
    warmup      how many batches with records are left out of the figures
    account     where every record was at the end
    """

    title: str
    flow: str
    goal: str | None
    folder: str
    started_s: float
    ended_s: float
    warmup: int
    account: Account

    def save(self, folder: Path) -> Path:
        """Write these facts beside a run's log."""
        path = folder / ABOUT_FILE
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")
        return path


def load_about(folder: Path) -> RunAbout:
    """Read back what `RunAbout.save` wrote."""
    path = folder / ABOUT_FILE
    if not path.is_file():
        raise RunError(
            f"{str(folder)!r} holds no {ABOUT_FILE}, so it is not the folder of a run that ended; "
            "name the folder that `headway run` or `headway demo` printed"
        )
    try:
        found = json.loads(path.read_text())
        return RunAbout(**{**found, "account": Account(**found["account"])})
    except (ValueError, TypeError, KeyError) as error:
        raise RunError(f"{str(path)!r} does not read as a run's facts: {error}") from error

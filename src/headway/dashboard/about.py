"""What a report says of a run beyond its batches, kept as a small file beside the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from headway.errors import RunError
from headway.measure.account import Account
from headway.measure.batches import BatchLine
from headway.measure.summary import account_of

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


def load_about(folder: Path, lines: Sequence[BatchLine]) -> RunAbout:
    """What is known of a run from its folder; `lines` are all that its log holds.

    A run that was cut short has no end of its own, and one that no command started has no facts
    here at all: then the log says what it can.
    """
    account = account_of(lines)
    last_s = max((line.published_s for line in lines), default=0.0)
    path = folder / ABOUT_FILE
    if path.is_file():
        kept = read_about(path)
        return replace(kept, ended_s=max(kept.ended_s, last_s), account=account)
    if not lines:
        raise RunError(
            f"{str(folder)!r} holds neither a log nor {ABOUT_FILE}, so it is not the folder of a "
            "run; name the folder that `headway run` or `headway demo` printed"
        )
    first_s = min(line.started_s for line in lines)
    return RunAbout(folder.name, "", None, str(folder), first_s, last_s, 0, account)


def read_about(path: Path) -> RunAbout:
    """Read back what `RunAbout.save` wrote."""
    try:
        found = json.loads(path.read_text())
        return RunAbout(**{**found, "account": Account(**found["account"])})
    except (ValueError, TypeError, KeyError) as error:
        raise RunError(f"{str(path)!r} does not read as a run's facts: {error}") from error

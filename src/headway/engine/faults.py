"""Named instants of a batch at which a test can make the whole driver die."""

from __future__ import annotations

import os
import signal

VARIABLE = "HEADWAY_CRASH"  # "stage:count:process group", for example "planned:3:4711"
STAGES = ("asked", "planned", "reading", "computed", "published", "committed", "logged")
_seen: dict[str, int] = {}


def reached(stage: str) -> None:
    """Say that a stage of a batch was reached; kills the driver if a test asked for it here."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    name, count, group = wanted.split(":")
    if name != stage:
        return
    _seen[stage] = _seen.get(stage, 0) + 1
    if _seen[stage] >= int(count):
        os.killpg(int(group), signal.SIGKILL)

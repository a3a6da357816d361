"""What becomes of a record on which a user's pair raises."""

from __future__ import annotations

import json
import re
import traceback
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from headway.engine.topics.port import Slice
from headway.engine.topics.quarantine import Quarantined, Why, set_aside
from headway.errors import PairError
from headway.flow.steps import PairStep

MARK = re.compile(r"<<headway-pair-error (.*?) headway-pair-error>>", re.DOTALL)


class PairFailed(Exception):
    """Crosses from a Python worker to the driver as text; read back by `find_pair_error`."""

    def __init__(self, told: str) -> None:
        super().__init__(f"<<headway-pair-error {told} headway-pair-error>>")


@dataclass(frozen=True, slots=True)
class Failures:
    """Stops the run or sets the record aside, as the flow says."""

    step: PairStep
    folder: Path

    def handle(self, method: str, seq: int, key: Any, record: Any) -> None:
        """Deal with the exception that is being handled."""
        trace = traceback.format_exc()
        if self.step.on_error == "stop":
            told = [self.step.pair.name, method, repr(key), repr(record)[:2_000], trace]
            raise PairFailed(json.dumps(told)) from None
        raw = orjson.dumps({"key": key, "record": record}, default=repr)
        # Named after the record and what failed on it, so that a replay writes the same file.
        place = Slice(str(zlib.crc32(method.encode() + raw)), seq, seq + 1)
        why: Why = "unfinished" if method == "finalize" else "failed"
        set_aside(self.folder, self.step.name, place, why, [Quarantined(seq, raw, trace)])


def find_pair_error(text: str) -> PairError | None:
    """The pair's error in what Spark tells of a failed task, if there is one."""
    found = MARK.search(text)
    if not found:
        return None
    return PairError(*json.loads(found[1]))

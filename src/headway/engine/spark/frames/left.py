"""What a checkpoint folder tells of the query that writes it, while it runs or after it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from headway.engine.spark.gate.offset_log import numbered
from headway.errors import RunError
from headway.measure.watched import Watched, WatchedBatch, batch_phases

NOT_SEEN = (
    "a checkpoint tells when a batch was decided and when it had ended, and nothing in between; "
    "give the address of the query's Spark UI, or headway.watch(query), to see more"
)
BELOW = ("*/offsets", "*/*/offsets")  # where a run of headway's has its checkpoints
LATEST = 200  # batches that are looked at


def read_checkpoint(folder: Path) -> Watched:
    """The batches that a checkpoint remembers: Spark keeps the last hundred or so."""
    decided, done = numbered(folder / "offsets"), numbered(folder / "commits")
    if not decided:
        below = [str(found.parent) for way in BELOW for found in sorted(folder.glob(way))]
        given = "the folder that the query was started with as checkpointLocation"
        raise RunError(
            f"{folder} is no checkpoint of a streaming query: it has no offsets/ with batches in "
            f"it. Give {' or '.join(below) or given}"
        )
    begun, ended = begun_s(decided), written_s(done)
    both = sorted(set(begun) & set(ended))[-LATEST:]
    batches = [batch_between(number, begun[number], ended) for number in both]
    about = metadata_of(decided[max(decided)])
    settings = {str(name): str(value) for name, value in about.get("conf", {}).items()}
    return Watched(str(folder), batches, settings, None, (NOT_SEEN,))


def written_s(files: Mapping[int, Path]) -> dict[int, float]:
    """When each file of a log was written; one that Spark has just removed is passed over."""
    found = {}
    for number, path in files.items():
        with suppress(FileNotFoundError):
            found[number] = path.stat().st_mtime
    return found


def begun_s(files: Mapping[int, Path]) -> dict[int, float]:
    """When each batch began, by the note beside its offsets, or else by when these were written.

    In real-time mode they are written when the batch ends, and a change of mode writes some again.
    """
    found = written_s(files)
    for number in found:
        with suppress(FileNotFoundError):
            noted_ms = metadata_of(files[number]).get("batchTimestampMs", 0)
            found[number] = noted_ms / 1e3 if noted_ms else found[number]
    return found


def batch_between(number: int, decided_s: float, ended: Mapping[int, float]) -> WatchedBatch:
    """A batch from the times at which its two files were written."""
    took_s = max(0.0, ended[number] - decided_s)
    idle_s = max(0.0, decided_s - ended[number - 1]) if number - 1 in ended else None
    return WatchedBatch(number, decided_s, took_s, None, idle_s, batch_phases({}, {}, took_s))


def metadata_of(path: Path) -> dict[str, Any]:
    """What Spark noted beside the offsets of a batch: its watermark and settings."""
    lines = path.read_text().split("\n")
    try:
        found: dict[str, Any] = json.loads(lines[1])
    except (IndexError, ValueError):
        return {}
    return found

"""One line per batch: what was decided, what happened, how late the answers were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headway.measure.costs.stores import Store


@dataclass(frozen=True, slots=True)
class BatchLine:
    """What the log keeps of one batch; times are seconds since 1970 or durations in seconds.

    `phases` says where the time of the answers went (measure/phases.py), `moments` how records came
    and how long they, or their batch, were served (measure/moments.py), `work` what was done: keys
    changed, states kept and, of some batches, the time of tasks and the bytes of the shuffle.
    `clock_ahead_s` is by how much, at least, the clock that stamped the records was ahead of ours:
    answers seemed to come before their records. Such latencies count as zero. `store` is where a
    micro-batch held its states.
    """

    query: str
    batch: int
    started_s: float
    published_s: float
    rows: int
    answers: int
    quarantined: int
    interval_s: float
    max_rows: int | None
    readers: int
    because: str
    watermark_s: float
    start: dict[str, Any]
    end: dict[str, Any]
    latency: dict[str, float | int]
    window_latency: dict[str, float | int]
    account: dict[str, int]
    durations_s: dict[str, float] = field(default_factory=dict)
    latency_steps: list[float] = field(default_factory=list)
    clock_ahead_s: float = 0.0
    phases: dict[str, dict[str, Any]] = field(default_factory=dict)
    moments: dict[str, dict[str, float]] = field(default_factory=dict)
    work: dict[str, float] = field(default_factory=dict)
    store: Store | None = None

    def to_json(self) -> str:
        """The line as it stands in the log."""
        return json.dumps(asdict(self), separators=(",", ":"))


class BatchLog:
    """An append-only file of batch lines; a line that a crash cut short is passed over."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, line: BatchLine) -> None:
        """Add a line; one before it that was cut short is ended first, and harms no other."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            torn = file.read(1) not in (b"", b"\n")
            file.write(b"\n" * torn + line.to_json().encode() + b"\n")

    def lines(self) -> Iterator[BatchLine]:
        """The lines in the order they were written."""
        if not self.path.exists():
            return
        for text in self.path.read_text().splitlines():
            try:
                yield BatchLine(**json.loads(text))
            except ValueError:
                continue

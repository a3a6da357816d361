"""The log of one query: a line for each batch, in a file and at hand."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path
from typing import Any

from headway.measure.batches import BatchLine, BatchLog

LINES_KEPT = 20_000


class Logbook:
    """Keeps the log of one query, however its lines are made."""

    def __init__(self, query: str, path: Path) -> None:
        self._query, self._log = query, BatchLog(path)
        self.failure: Exception | None = None  # why the last batch has no line
        self._lock = threading.Lock()
        # The log has them all; in memory stay enough for a live view and a report.
        mine = (line for line in self._log.lines() if line.query == query)
        self.lines: deque[BatchLine] = deque(mine, maxlen=LINES_KEPT)
        self._last = self.lines[-1].batch if self.lines else -1

    def progress(self, progress: dict[str, Any]) -> BatchLine | None:
        """Take one progress event; returns the batch's line, or None if it is no new batch."""
        batch = int(progress["batchId"])
        with self._lock:
            line = self.line_of(batch, progress) if batch > self._last else None
            if line is not None:
                self.enter(line)
            return line

    def line_of(self, batch: int, progress: dict[str, Any]) -> BatchLine | None:
        """The line of a batch; None when its event says nothing new."""
        raise NotImplementedError

    def enter(self, line: BatchLine) -> None:
        """Add a line."""
        self._last = line.batch
        self.lines.append(line)
        self._log.append(line)

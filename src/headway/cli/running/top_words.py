"""The most frequent words of the latest window, for the demo's live view."""

from __future__ import annotations

import threading
from datetime import datetime

import pyarrow as pa

from headway.dashboard.live import TopAnswers

SHOWN = 8


class TopWords:
    """A sink that remembers the counts of the latest window and nothing older."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.window_end: datetime | None = None
        self.counts: dict[str, int] = {}

    def take(self, batch: int, answers: pa.Table) -> None:
        """Take in the answers of a batch: `window_end`, `word`, `n`; a later answer replaces."""
        with self.lock:
            for row in answers.select(["window_end", "word", "n"]).to_pylist():
                if self.window_end is None or row["window_end"] > self.window_end:
                    self.window_end, self.counts = row["window_end"], {}
                if row["window_end"] == self.window_end:
                    self.counts[row["word"]] = row["n"]

    def top(self) -> TopAnswers | None:
        """The words counted most, with the window they were counted in."""
        with self.lock:
            if self.window_end is None:
                return None
            ranked = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
            until = f"top words until {self.window_end:%H:%M:%S}"
            return TopAnswers(until, tuple(ranked[:SHOWN]))

"""Write the report of a run as one HTML file, from its log and the facts kept beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.dashboard.about import RunAbout
from headway.dashboard.page import page_of
from headway.measure.batches import BatchLine


def write_report(lines: Sequence[BatchLine], about: RunAbout, path: Path) -> Path:
    """Write the report to `path` and return it; the file opens anywhere, without a network."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page_of(lines, about), encoding="utf-8")
    return path

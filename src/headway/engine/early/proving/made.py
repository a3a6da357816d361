"""Tables that SQL makes out of nothing, annotated: what benchmarks ask early questions of."""

from __future__ import annotations

from pathlib import Path

from headway.early.sampling import Sampling
from headway.engine.early.sources import our_spark
from headway.engine.early.storage import Stored, annotate


def made_table(sql: str, sampling: Sampling, folder: Path) -> Stored:
    """The rows of a query that reads no table, kept with their progress."""
    return annotate(our_spark().sql(sql), sampling, folder, "made")

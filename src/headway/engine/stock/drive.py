"""Run a stock query over a backlog to its end, its answers collected as headway collects them."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame

from headway.clock import Clock
from headway.engine.stock.collected import Collected
from headway.errors import RunError

LOOK_S = 0.5


def drive(frame: DataFrame, mode: str, batches: int, checkpoint: Path, clock: Clock) -> Collected:
    """The answers of a query's first batches, once that many are out."""
    collected = Collected(clock)
    query = (
        frame.writeStream.outputMode(mode)
        .option("checkpointLocation", str(checkpoint))
        .foreachBatch(lambda answers, batch: collected(batch, answers.toArrow()))
        .start()
    )
    try:
        while not collected.wait_for(batches, LOOK_S):
            if not query.isActive:
                raise RunError(f"the stock query ended early: {query.exception()}")
    finally:
        query.stop()
    return collected

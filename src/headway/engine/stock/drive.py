"""Run a stock query over a backlog to its end, its answers collected as headway collects them."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame

from headway.engine.stock.collected import Collected
from headway.errors import RunError

LOOK_S = 0.5


def drive(frame: DataFrame, mode: str, checkpoint: Path, collected: Collected) -> None:
    """Run a query until all its batches are collected."""
    query = (
        frame.writeStream.outputMode(mode)
        .option("checkpointLocation", str(checkpoint))
        .foreachBatch(lambda answers, batch: collected(batch, answers.toArrow()))
        .start()
    )
    try:
        while not collected.complete.wait(LOOK_S):
            if not query.isActive:
                raise RunError(f"the stock query ended early: {query.exception()}")
    finally:
        query.stop()

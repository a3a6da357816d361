"""Hand what a command wants to the Spark engine."""

from __future__ import annotations

from dataclasses import replace

from headway.cli.running.follow import Handle, Wanted
from headway.cli.running.spark_output import spark_output_to
from headway.engine.spark.run import run
from headway.engine.spark.settings import Settings


def start_on_spark(wanted: Wanted) -> Handle:
    """Start a run on Spark."""
    settings = Settings(metrics_port=wanted.metrics_port, store=wanted.store)
    if wanted.interval_s is not None:
        pace = replace(settings.pace, interval_s=wanted.interval_s)
        settings = replace(settings, pace=pace, keeping="passive")
    if wanted.max_rows is not None:
        settings = replace(settings, pace=replace(settings.pace, max_rows=wanted.max_rows))
    if wanted.checkpoint_s is not None:
        knobs = replace(settings.real_time, checkpoint_s=wanted.checkpoint_s)
        settings = replace(settings, real_time=knobs)
    if wanted.master is not None:
        settings = replace(settings, master=wanted.master)
    with spark_output_to(wanted.output or wanted.folder):
        return run(
            wanted.flow,
            goal=wanted.goal,
            folder=wanted.folder,
            settings=settings,
            mode=wanted.mode,
        )

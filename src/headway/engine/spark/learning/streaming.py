"""Run a flow in real-time mode for a while to learn what it costs: at a few rates, to nobody.

A stream cannot be asked for batches of a size, as a gate can, so the rate is what varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import SparkSession

from headway.clock import SystemClock
from headway.engine.spark.learning.copies import copied, filled, resendable
from headway.engine.spark.learning.trial import Trial, own_lines, without_arrivals
from headway.engine.spark.run import RunHandle, run
from headway.flow.graph import Flow
from headway.flow.rates import RateSchedule
from headway.measure.batches import BatchLine
from headway.measure.costs.stretches import StreamCosts, stream_costs
from headway.plan.modes import modes_of

RATES = (500.0, 2_000.0, 8_000.0)  # rising, so that what one leaves behind spoils none before it
WARM = 0.3  # the share of the time that a new query gets to warm up
CHECKPOINT_S = 3.0
CARRIED = 0.9  # the share of a rate that must have been read for a stretch to tell of it
LOOK_S = 0.1


def streams(flow: Flow) -> bool:
    """Whether a flow can be tried in real-time mode."""
    return "real-time" in modes_of(flow) and resendable(flow)


def profile_stream(flow: Flow, trial: Trial, session: SparkSession) -> StreamCosts:
    """Run a flow in real-time mode at a few rates and say what it costs there."""
    schedule = schedule_of(trial.seconds)
    count = round(sum(seconds * rate for seconds, rate in schedule.steps))
    settings = replace(
        trial.settings, mode="real-time", until="stopped", keeping="off",
        real_time=replace(trial.settings.real_time, checkpoint_s=CHECKPOINT_S, code=True),
    )  # fmt: skip
    with (
        copied(flow) as copy,
        run(copy, folder=trial.folder, session=session, settings=settings) as handle,
        filled(flow, copy, schedule, count) as begun_us,
    ):
        wait(handle, trial)
    sources = len(copy.part_for(copy.sinks[0]).sources)
    kept = learned(own_lines(handle), schedule, begun_us / 1e6, sources)
    return stream_costs(without_arrivals(line) for line in kept)


def schedule_of(seconds: float) -> RateSchedule:
    """A warm-up at a rate in the middle, then each rate for as long as the others."""
    each_s = seconds * (1 - WARM) / len(RATES)
    return RateSchedule(((seconds * WARM, RATES[1]), *((each_s, rate) for rate in RATES)))


def wait(handle: RunHandle, trial: Trial) -> None:
    """Let the trial run its time."""
    clock = SystemClock()
    begun_s = clock.steady_s()
    while handle.active and (gone_s := clock.steady_s() - begun_s) < trial.seconds:
        trial.told(gone_s, "real-time mode")
        handle.wait(LOOK_S)


def learned(
    lines: Sequence[BatchLine], schedule: RateSchedule, begun_s: float, sources: int
) -> list[BatchLine]:
    """The stretches that lie within one rate, and carried it; the first one is warm-up."""
    found: list[BatchLine] = []
    for place, (seconds, rate) in enumerate(schedule.steps):
        until_s = begun_s + seconds
        found += [
            line
            for line in lines
            if place
            and line.started_s >= begun_s
            and line.published_s <= until_s
            and line.rows >= CARRIED * rate * sources * (line.published_s - line.started_s)
        ]
        begun_s = until_s
    return found

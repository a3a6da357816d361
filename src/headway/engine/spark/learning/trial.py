"""A flow on trial: how long, where, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from headway.engine.spark.run import RunHandle
from headway.engine.spark.settings import Settings
from headway.engine.spark.stores import PROVIDER, stateful_sinks, store_of
from headway.flow.graph import Flow
from headway.measure.batches import BatchLine
from headway.measure.costs.stores import STORES, Store
from headway.measure.moments import ARRIVALS


@dataclass(frozen=True, slots=True)
class Trial:
    """How a flow is tried.

    seconds  how long
    folder   where its run lies, for as long as the trial
    told     hears how far it is: seconds gone, and a note
    said     hears what could not be tried, and why
    """

    seconds: float
    settings: Settings
    folder: Path
    told: Callable[[float, str], None] = lambda gone_s, note: None
    said: Callable[[str], None] = lambda why: None


def stores_tried(flow: Flow, settings: Settings) -> tuple[Store | None, ...]:
    """The stores that a trial lets states rest in: all, unless there are none or one was chosen.

    A trial looks at the first sink. Where several parts of a flow keep states, how much of the heap
    they would take together is not seen, so they are not tried in memory.
    """
    if not flow.stateful():
        return (None,)
    chosen = settings.store or store_of(settings.spark.get(PROVIDER, ""))
    if chosen:
        return (chosen,)
    return STORES if len(stateful_sinks(flow)) == 1 else ("rocksdb",)


def own_lines(handle: RunHandle) -> list[BatchLine]:
    """The batches of the first sink's query: a profile is of one query."""
    name = handle.flow.sinks[0].name
    return [line for line in handle.lines() if line.query == name]


def without_arrivals(line: BatchLine) -> BatchLine:
    """A line of records that came as the trial wanted: how they came says nothing."""
    return replace(
        line, moments={name: found for name, found in line.moments.items() if name != ARRIVALS}
    )

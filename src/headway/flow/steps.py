"""The steps of a flow as frozen values; each names the steps it takes its input from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headway.flow.columns.schema import Schema
from headway.flow.expression import Expression
from headway.flow.pairs import BasePair
from headway.flow.topics import EventTime, Target, Topic, describe_topic, identify_topic
from headway.flow.windows import Window

OnError = Literal["stop", "quarantine"]


@dataclass(frozen=True, slots=True)
class Source:
    """Records enter here. `time` is None when a record's time is its arrival."""

    name: str
    topic: Topic
    schema: Schema | None
    time: EventTime | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """A source takes nothing from other steps."""
        return ()


@dataclass(frozen=True, slots=True)
class Map:
    """Select SQL expressions of each record."""

    name: str
    inputs: tuple[str, ...]
    select: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Keep the records for which an SQL condition is true."""

    name: str
    inputs: tuple[str, ...]
    where: Expression


@dataclass(frozen=True, slots=True)
class Merge:
    """The records of several streams with the same columns, as one stream."""

    name: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """SQL aggregates of each key, kept up to date or per window."""

    name: str
    inputs: tuple[str, ...]
    key: tuple[str, ...]
    aggregates: tuple[Expression, ...]
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class PairStep:
    """A Python pair of map and reduce, with a window for the windowed form."""

    name: str
    inputs: tuple[str, ...]
    pair: BasePair
    key: tuple[str, ...] = ()
    window: Window | None = None
    on_error: OnError = "stop"


@dataclass(frozen=True, slots=True)
class Sink:
    """Answers leave here."""

    name: str
    inputs: tuple[str, ...]
    target: Target


Step = Source | Map | Filter | Merge | Reduce | PairStep | Sink
STATEFUL = (Reduce, PairStep)


def identify_step(step: Step) -> str:
    """All that decides whether a checkpoint fits a step: what `describe_step` rounds, exactly."""
    if isinstance(step, Source):
        return f"source {step.name}: {identify_topic(step.topic)} ({step.schema}) {step.time}"
    exact = ""
    if isinstance(step, Reduce | PairStep) and step.window is not None:
        exact = f" {step.window.exact}"
    return f"{step.inputs} {describe_step(step)}{exact}"


def describe_step(step: Step) -> str:
    """One line that says what a step does; also what a checkpoint remembers of it."""
    match step:
        case Source():
            time = f", time from {step.time.column}" if step.time else ""
            return f"source {step.name}: {describe_topic(step.topic)} ({step.schema}){time}"
        case Map():
            return f"map {', '.join(e.text for e in step.select)}"
        case Filter():
            return f"filter {step.where.text}"
        case Merge():
            return f"merge {', '.join(step.inputs)}"
        case Reduce():
            made = ", ".join(f"{e.text}" for e in step.aggregates)
            over = f" over {step.window}" if step.window else ""
            return f"reduce {made} by ({', '.join(step.key)}){over}"
        case PairStep():
            over = f" over {step.window}" if step.window else ""
            by = f" by ({', '.join(step.key)})" if step.key else ""
            return f"pair {step.pair.signature} -> {step.pair.output()}{by}{over}"
        case Sink():
            return f"sink {step.name}: {step.target.kind} {step.target.address}".rstrip()

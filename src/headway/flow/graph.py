"""A flow: steps that form a directed acyclic graph from sources to sinks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import inf
from pathlib import Path

from headway.errors import FlowError
from headway.flow.steps import (
    STATEFUL,
    PairStep,
    Reduce,
    Sink,
    Source,
    Step,
    describe_step,
    identify_step,
)


@dataclass(frozen=True, slots=True)
class Flow:
    """A whole query as data, in an order in which each step follows its inputs."""

    steps: tuple[Step, ...]

    @classmethod
    def of(cls, steps: Iterable[Step]) -> Flow:
        """Check and order steps: names distinct, inputs known, no cycle, at least one sink."""
        by_name: dict[str, Step] = {}
        for step in steps:
            known = by_name.setdefault(step.name, step)
            if known is not step and not same_step(known, step):
                raise FlowError(
                    f"two steps are called {step.name!r}; give one of them another name"
                )
        for step in by_name.values():
            for name in step.inputs:
                if name not in by_name:
                    raise FlowError(
                        f"step {step.name!r} takes its input from {name!r}, unknown here"
                    )
        try:
            order = TopologicalSorter({s.name: s.inputs for s in by_name.values()}).static_order()
            flow = cls(tuple(by_name[name] for name in order))
        except CycleError as error:
            circle = " -> ".join(reversed(error.args[1]))
            raise FlowError(f"the flow runs in a circle: {circle}; take one arrow out") from None
        if not flow.sinks:
            raise FlowError("the flow has no sink, so it answers nobody; end it with .to(...)")
        check_sinks(flow.sinks)
        return flow

    def __add__(self, other: Flow) -> Flow:
        """Both flows as one; the steps that they share are the same steps."""
        return together(self, other)

    def __getitem__(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    def __str__(self) -> str:
        return "\n".join(describe_step(step) for step in self.steps)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where records enter."""
        return tuple(step for step in self.steps if isinstance(step, Source))

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """Where answers leave."""
        return tuple(step for step in self.steps if isinstance(step, Sink))

    def above(self, name: str) -> Iterator[Step]:
        """The steps that lead to one step, itself last, in flow order."""
        wanted = {name}
        for step in reversed(self.steps):
            if step.name in wanted:
                wanted.update(step.inputs)
        return (step for step in self.steps if step.name in wanted)

    def part_for(self, sink: Sink) -> Flow:
        """The flow cut down to what one sink needs."""
        return Flow(tuple(self.above(sink.name)))

    def stateful(self) -> tuple[Reduce | PairStep, ...]:
        """The steps that keep state."""
        return tuple(step for step in self.steps if isinstance(step, STATEFUL))

    @property
    def lateness_s(self) -> float:
        """How long windows wait for stragglers, at most; 0 without windows."""
        late_us = [step.window.lateness_us for step in self.stateful() if step.window]
        return max(late_us, default=0) / 1e6

    @property
    def window_s(self) -> float:
        """From one window to the next, of the shortest ones; 0 without windows."""
        slide_us = [step.window.slide_us for step in self.stateful() if step.window]
        return min(slide_us, default=0) / 1e6

    @property
    def lives_s(self) -> float:
        """How long a state lives until its window is final, at most; endless where some stay."""
        windows = [step.window for step in self.stateful()]
        if not windows or not all(windows):
            return inf
        return max(each.size_us + each.lateness_us for each in windows if each) / 1e6

    @property
    def fingerprint(self) -> str:
        """A short text that changes when the state or the offsets of a checkpoint would not fit."""
        kept = [step for step in self.steps if not isinstance(step, Sink)]
        text = "\n".join(identify_step(step) for step in kept)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def same_step(left: Step, right: Step) -> bool:
    """Whether two steps of one name are one; sources must be the same topic, not look alike."""
    if isinstance(left, Source) or isinstance(right, Source):
        return left == right
    return describe_step(left) == describe_step(right)


def check_sinks(sinks: tuple[Sink, ...]) -> None:
    """Refuse two sinks in one place: each would take the other's batches for its own."""
    places: dict[tuple[str, Path], str] = {}
    for sink in sinks:
        if sink.target.kind in ("spool", "parquet"):
            place = (sink.target.kind, Path(sink.target.address).resolve())
            other = places.setdefault(place, sink.name)
            if other != sink.name:
                raise FlowError(
                    f"sinks {other!r} and {sink.name!r} both write to {sink.target.address!r}; "
                    "give each a folder of its own"
                )


def together(*flows: Flow) -> Flow:
    """Several flows as one; the steps that they share are the same steps."""
    names = [sink.name for flow in flows for sink in flow.sinks]
    for name in names:
        if names.count(name) > 1:
            raise FlowError(f"two sinks are called {name!r}; name them with .to(..., name=...)")
    return Flow.of(step for flow in flows for step in flow.steps)

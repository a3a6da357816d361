"""Run a flow in plain Python, batch by batch, and so define what its answers are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from headway.engine.reference.gate import Gate, next_watermark, schema_of, windows_below
from headway.engine.reference.pairs import PairRunner
from headway.engine.reference.records import (
    Answer,
    Arrived,
    Batch,
    Outcome,
    Piece,
    SetAside,
    one_by_one,
)
from headway.engine.reference.reduce import Reducer
from headway.engine.reference.sql.types import Type
from headway.engine.reference.stateless import prepare_filter, prepare_map, prepare_merge
from headway.errors import FlowError
from headway.flow.graph import Flow
from headway.flow.steps import Filter, Map, Merge, PairStep, Reduce, Sink, Source, Step

__all__ = ["Answer", "Arrived", "Batch", "Outcome", "SetAside", "one_by_one", "run_flow"]

Work = Callable[[Sequence[Piece], float], list[Piece]]  # pieces, watermark in ms -> pieces


def run_flow(flow: Flow, sink: str | None, batches: Iterable[Batch], ended: bool = True) -> Outcome:
    """The answers at one sink, and the records set aside, for the batches given.

    With `ended`, a last batch without records closes every window that is still open; its number
    is the number of the batches. Run twice on the same batches, the outcome is the same.
    """
    admitted = list(batches)
    part = flow.part_for(sink_of(flow, sink))
    engine = Engine(part, admitted)
    answers: list[Answer] = []
    aside: list[SetAside] = []
    if ended:
        admitted = [*admitted, Batch({})]
    for number, batch in enumerate(admitted):
        last = ended and number == len(admitted) - 1
        pieces, gone = engine.run_batch(batch, math.inf if last else batch.watermark_ms)
        answers += [Answer(number, piece.row) for piece in pieces]
        aside += gone
    return Outcome(tuple(answers), tuple(aside))


def sink_of(flow: Flow, name: str | None) -> Sink:
    """The sink asked for, or the only one there is."""
    fits = [sink for sink in flow.sinks if name in (None, sink.name)]
    if len(fits) != 1:
        names = ", ".join(sink.name for sink in flow.sinks)
        raise FlowError(f"sink {name!r} is not one of the flow's; name one of {names}")
    return fits[0]


class Engine:
    """One flow part, prepared: its gates, the work of each step, and all state."""

    def __init__(self, part: Flow, batches: Sequence[Batch]) -> None:
        self.part = part
        self.gates: dict[str, Gate] = {}
        self.work: dict[str, Work] = {}
        self.pairs: list[PairRunner] = []
        self.watermark_ms: float = 0
        columns: dict[str, Mapping[str, Type]] = {}
        for step in part.steps:
            above = [columns[name] for name in step.inputs]
            columns[step.name] = self.prepare(step, above, batches)

    def prepare(
        self, step: Step, above: Sequence[Mapping[str, Type]], batches: Sequence[Batch]
    ) -> Mapping[str, Type]:
        """Make one step ready and return its columns."""
        match step:
            case Source():
                gate = Gate(step, schema_of(step, batches), windows_below(self.part, step))
                self.gates[step.name] = gate
                return gate.kinds
            case Map():
                select, columns = prepare_map(step, above[0])
                self.work[step.name] = lambda pieces, _: select(pieces)
                return columns
            case Filter():
                keep = prepare_filter(step, above[0])
                self.work[step.name] = lambda pieces, _: keep(pieces)
                return above[0]
            case Reduce():
                reducer = Reducer(step, above[0])
                self.work[step.name] = reducer.take
                return reducer.columns
            case PairStep():
                runner = PairRunner(step)
                self.pairs.append(runner)
                self.work[step.name] = runner.take
                return runner.columns
            case Merge():
                merge, columns = prepare_merge(step, above)
                self.work[step.name] = lambda pieces, _: merge(pieces)
                return columns
            case Sink():
                self.work[step.name] = lambda pieces, _: list(pieces)
                return above[0]

    def run_batch(
        self, batch: Batch, watermark_ms: float | None
    ) -> tuple[list[Piece], list[SetAside]]:
        """The answers of one batch and what it set aside; the watermark then moves on."""
        at_ms = self.watermark_ms if watermark_ms is None else watermark_ms
        out: dict[str, list[Piece]] = {}
        aside: list[SetAside] = []
        for step in self.part.steps:
            if isinstance(step, Source):
                records = batch.admitted.get(step.name, ())
                out[step.name], gone = self.gates[step.name].admit(records, at_ms)
                aside += gone
            else:
                pieces = [piece for name in step.inputs for piece in out[name]]
                out[step.name] = self.work[step.name](pieces, at_ms)
        for runner in self.pairs:
            aside += runner.drain_aside()
        self.watermark_ms = next_watermark(at_ms, self.gates.values())
        return out[self.part.steps[-1].name], aside

"""A flow as a streaming DataFrame of Spark: SQL steps natively, Python pairs by the bucket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headway.engine.spark.gate.admission import Shape
from headway.engine.spark.gate.columns import (
    AGES,
    ARRIVAL,
    ARRIVED,
    CLOSED,
    FROM,
    LAST,
    MAPPED,
    READ,
    SEQ,
    SPAN,
    TICK,
    TIME,
    VERSION,
    WINDOW_END,
)
from headway.engine.spark.markers import guard_filter, guard_select
from headway.engine.spark.pair_step import ANSWERS, PairSettings, run_pair, unpack
from headway.errors import FlowError
from headway.flow.graph import Flow
from headway.flow.steps import Filter, Map, Merge, PairStep, Reduce, Sink, Source, Step
from headway.flow.windows import END_OF_TIME_US
from headway.plan.modes import suits_real_time

HIDDEN = (ARRIVAL, TICK, CLOSED, TIME, SEQ, FROM, READ)
STAMPS = (VERSION, ARRIVED, MAPPED, WINDOW_END, LAST)  # of answers
OBSERVED = "headway"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A query ready to start; `packed` when its rows are answers in Arrow's own bytes."""

    frame: DataFrame
    output_mode: str
    packed: bool

    def answers(self) -> DataFrame:
        """The columns of the answers and their stamps."""
        return self.frame.drop(*HIDDEN)


def stateful_step(part: Flow) -> Reduce | PairStep | None:
    """The one step of a part that keeps state."""
    found = part.stateful()
    if len(found) > 1:
        raise FlowError(
            "this flow has several stateful steps on the way to one sink; run them as two flows "
            "with a spool in between"
        )
    return found[0] if found else None


def shape_of(part: Flow, source: Source) -> Shape:
    """The columns that the gate of a source hands out: what the flow reads, and no more."""
    state = stateful_step(part)
    assert source.schema is not None
    columns = tuple(name for name in source.schema.names if name in needed(part, source))
    for_pair = isinstance(state, PairStep)
    number = [found.name for found in part.sources].index(source.name)
    window = state.window if state else None
    return Shape(columns, window, for_pair, number, versioned(part))


def versioned(part: Flow) -> bool:
    """Whether the states of a part carry a version: where real-time mode may read them, too."""
    return isinstance(stateful_step(part), Reduce) and suits_real_time(part)


def needed(part: Flow, source: Source) -> set[str]:
    """The columns of a source that any step may read."""
    assert source.schema is not None
    everything = set(source.schema.names)
    wanted: set[str] = set()
    for step in part.steps:
        match step:
            case Map() if any(expression.is_star for expression in step.select):
                return everything
            case Map():
                wanted |= {name for e in step.select for name in e.columns}
            case Filter():
                wanted |= step.where.columns
            case Reduce():
                wanted |= set(step.key) | {name for e in step.aggregates for name in e.columns}
            case PairStep() | Sink() if not narrowed(part, step):
                return everything
    return wanted & everything


def narrowed(part: Flow, step: Step) -> bool:
    """Whether a map or reduce above a step decides its columns, on whatever way they come."""
    above = list(part.above(step.name))
    if any(isinstance(found, Merge) for found in above):
        return False
    return any(isinstance(found, Map | Reduce) for found in above)


def unstamped(frame: DataFrame) -> DataFrame:
    """Records that nobody asks when they were mapped; the states have a place for it anyway."""
    return frame.withColumn(MAPPED, F.lit(None).cast("bigint"))


def compile_part(
    part: Flow,
    read: Callable[[Source], DataFrame],
    pairs: PairSettings,
    stamped: Callable[[DataFrame], DataFrame] = unstamped,
) -> Compiled:
    """Compile the part of a flow that leads to one sink.

    `read` gives the records of a source, metered; `stamped` tells when each has been mapped.
    """
    state = stateful_step(part)
    frames: dict[str, DataFrame] = {}
    try:
        for step in part.steps:
            inputs = [frames[name] for name in step.inputs]
            if not isinstance(step, Sink):
                inputs = [
                    unpack(frame, part[name])
                    for frame, name in zip(inputs, step.inputs, strict=True)
                ]
            if isinstance(step, Source):
                frames[step.name] = read(step)
            elif isinstance(step, Reduce):
                marked = stamped(inputs[0]) if versioned(part) else inputs[0]
                frames[step.name] = compile_reduce(marked, step)
            else:
                frames[step.name] = compile_step(step, inputs, pairs, part)
    except AnalysisException as error:
        raise refused(error) from error
    frame = frames[part.sinks[0].name]
    mode = "update" if isinstance(state, Reduce) and state.window is None else "append"
    return Compiled(frame, mode, packed=ANSWERS in frame.columns)


def refused(error: AnalysisException) -> FlowError:
    """What Spark says against a flow, without the plan that it prints under it."""
    said = str(error).split("\n")[0].rstrip("; ")
    return FlowError(f"Spark cannot run this flow: {said}")


def compile_step(step: Step, inputs: list[DataFrame], pairs: PairSettings, part: Flow) -> DataFrame:
    """Apply one step between the sources and the sink."""
    match step:
        case Map():
            return compile_map(inputs[0], step, part)
        case Filter():
            marked = has_markers(part) and not after_state(part, step)
            return inputs[0].where(guard_filter(step.where) if marked else step.where.text)
        case Merge():
            merged = inputs[0]
            for other in inputs[1:]:
                merged = merged.unionByName(other)
            return merged
        case PairStep():
            return run_pair(inputs[0], step, pairs)
        case _:
            return inputs[0]


def compile_map(frame: DataFrame, step: Map, part: Flow) -> DataFrame:
    """Select expressions, and keep headway's own columns."""
    kept = [name for name in (*HIDDEN, *STAMPS) if name in frame.columns]
    own = [f"`{name}`" for name in frame.columns if name not in kept]
    marked = has_markers(part) and not after_state(part, step)
    made: list[str] = []
    for expression in step.select:
        if expression.is_star:
            made += own
        else:
            made.append(guard_select(expression) if marked else expression.text)
    return frame.selectExpr(*made, *kept)


def has_markers(part: Flow) -> bool:
    """Whether marker rows travel with the records up to the stateful step: windowed pairs do so."""
    state = stateful_step(part)
    return isinstance(state, PairStep) and state.window is not None


def after_state(part: Flow, step: Step) -> bool:
    """Whether a step stands behind the stateful one."""
    state = stateful_step(part)
    return state is not None and any(above.name == state.name for above in part.above(step.name))


def enter(frame: DataFrame, source: Source, part: Flow) -> DataFrame:
    """Put Spark's watermark and the meter behind a gate; marker rows move only the former."""
    state = stateful_step(part)
    window = state.window if state else None
    if window is not None:
        frame = frame.withWatermark(TICK, f"{window.lateness_us // 1_000} milliseconds")
        if not isinstance(state, PairStep):
            # On the watermark's own column, or Spark would push it below the watermark.
            frame = frame.where(F.col(TICK) < F.timestamp_micros(F.lit(END_OF_TIME_US)))
    # One aggregate, since Spark looks at each of them for each row, and the driver does the rest.
    return frame.observe(f"{OBSERVED}:{source.name}", F.collect_list(AGES).alias("ages")).drop(AGES)


def compile_reduce(frame: DataFrame, step: Reduce) -> DataFrame:
    """Aggregates of each key, with what tells an answer's version where the frame is stamped."""
    aggregates = [F.expr(e.text) for e in step.aggregates]
    if MAPPED in frame.columns:
        # The same in both modes, since they share the states.
        aggregates += [
            F.count(F.lit(1)).alias(VERSION),
            F.last(ARRIVAL).alias(ARRIVED),
            F.last(MAPPED).alias(MAPPED),
        ]
    if step.window is None:
        return reduce_keys(frame, step, aggregates)
    return reduce_windows(frame, step, [*aggregates, F.max(ARRIVAL).alias(LAST)])


def reduce_keys(frame: DataFrame, step: Reduce, aggregates: list[Column]) -> DataFrame:
    """Aggregates of each key, kept up to date."""
    everyone = "__everyone"
    keys = [F.col(name) for name in step.key] or [F.lit(1).alias(everyone)]
    return frame.groupBy(*keys).agg(*aggregates).drop(everyone)


def reduce_windows(frame: DataFrame, step: Reduce, aggregates: list[Column]) -> DataFrame:
    """Aggregates of each key and window, answered once, when the watermark has passed its end."""
    window = step.window
    assert window is not None
    span = F.window(
        TICK,
        f"{window.size_us} microseconds",
        f"{window.slide_us} microseconds",
        f"{window.origin_us % window.slide_us} microseconds",
    )
    placed = frame.withColumn(SPAN, span)
    if CLOSED in frame.columns:
        placed = placed.where(F.unix_micros(F.col(f"{SPAN}.end")) > F.col(CLOSED))
    made = placed.groupBy(SPAN, *step.key).agg(*aggregates)
    if VERSION in made.columns:
        made = made.withColumn(WINDOW_END, F.unix_micros(F.col(f"{SPAN}.end")))
    return made.select(
        F.col(f"{SPAN}.start").alias("window_start"),
        F.col(f"{SPAN}.end").alias("window_end"),
        *step.key,
        *(str(e.name) for e in step.aggregates),
        *(name for name in STAMPS if name in made.columns),
    )

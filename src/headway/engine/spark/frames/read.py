"""Records of a user's own streaming DataFrame: timed and metered in SQL, since no gate does it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headway.engine.spark.compile import OBSERVED, stateful_step
from headway.engine.spark.gate.admission import MICROS
from headway.engine.spark.gate.columns import ARRIVAL, SEQ, TICK, TIME
from headway.engine.spark.realtime.stamps import sketched
from headway.errors import FlowError
from headway.flow.graph import Flow
from headway.flow.steps import PairStep, Source
from headway.flow.topics import StreamedFrame

CAME = "came"  # what is summed up: when records arrived


def frame_of(source: Source) -> StreamedFrame:
    """The DataFrame behind a source."""
    assert isinstance(source.topic, StreamedFrame)
    return source.topic


def has_frames(part: Flow) -> bool:
    """Whether a part of a flow begins with DataFrames of the user's."""
    return any(isinstance(source.topic, StreamedFrame) for source in part.sources)


def sessions_of(flow: Flow) -> list[SparkSession]:
    """The sessions that the DataFrames of a flow belong to."""
    frames = (source.topic for source in flow.sources if isinstance(source.topic, StreamedFrame))
    return [topic.frame.sparkSession for topic in frames]


def check_frames(part: Flow) -> None:
    """Refuse what needs a gate."""
    for source in part.sources:
        if not isinstance(source.topic, StreamedFrame):
            raise FlowError(
                f"source {source.name!r} has a gate, and another source of this flow, a streaming "
                "DataFrame, has none; read both in one way"
            )
    state = stateful_step(part)
    if isinstance(state, PairStep) and state.window is not None:
        raise FlowError(
            f"{state.pair.name} is a WindowPair, whose windows the gate closes; a streaming "
            "DataFrame has none. Use .window(...).reduce(...), or read with headway.topic(...)"
        )
    if isinstance(state, PairStep) and state.on_error != "stop":
        raise FlowError(
            f"{state.pair.name} is to quarantine records on which it raises, which are known again "
            "by their place behind a gate; a streaming DataFrame has none. Use on_error='stop'"
        )


def read_frame(source: Source, part: Flow, epoch_us: int) -> DataFrame:
    """The records of a DataFrame with headway's columns; arrivals are summed up from `epoch_us`.

    No current_timestamp() in what each record goes through, if it can be helped: it would stand in
    the generated code, which Java would then compile anew for each batch.
    """
    topic, state = frame_of(source), stateful_step(part)
    frame: DataFrame = topic.frame.withColumn(ARRIVAL, F.expr(arrival_sql(topic)))
    if isinstance(state, PairStep):
        # Spark numbers no rows of a stream: records of a batch keep the order in which they come.
        frame = frame.withColumn(TIME, time_of(source)).withColumn(SEQ, F.lit(0).cast("bigint"))
    metered = frame.observe(
        f"{OBSERVED}:{source.name}",
        F.count(F.lit(1)).alias("rows"),
        sketched(CAME, F.expr(f"({ARRIVAL} - {epoch_us}) / 1000")),
    )
    window = state.window if state else None
    if window is None:
        return metered
    # As at the gate: windows are open at their start, Spark's at their end.
    ticked = metered.withColumn(TICK, F.timestamp_micros(time_of(source) - 1))
    return ticked.withWatermark(TICK, f"{window.lateness_us // 1_000} milliseconds")


def arrival_sql(topic: StreamedFrame) -> str:
    """When a record arrived, in microseconds; the start of its batch where nothing tells it."""
    begun = "unix_micros(current_timestamp())"
    if topic.arrival is None:
        return begun
    return f"unix_micros(CAST(`{topic.arrival}` AS TIMESTAMP))"


def time_of(source: Source) -> Column:
    """A record's time in microseconds: of its event, or of its arrival."""
    if source.time is None:
        return F.col(ARRIVAL)
    column = f"`{source.time.column}`"
    kind = frame_of(source).frame.schema[source.time.column].dataType.simpleString()
    if kind.startswith("timestamp"):
        return F.expr(f"unix_micros(CAST({column} AS TIMESTAMP))")
    return F.expr(f"CAST(round({column} * {MICROS[source.time.unit]}) AS BIGINT)")

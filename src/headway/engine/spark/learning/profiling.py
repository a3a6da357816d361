"""Run a flow for a while to learn what it costs: batches of many sizes, answers to nobody."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pyarrow as pa
from confluent_kafka import KafkaException
from pyspark.sql import SparkSession

from headway.clock import Clock, SystemClock
from headway.engine.spark.learning.copies import copied, filled, resendable
from headway.engine.spark.learning.streaming import profile_stream, streams
from headway.engine.spark.learning.trial import Trial, own_lines, without_arrivals
from headway.engine.spark.run import RunHandle, run, spark_for
from headway.engine.topics.opening import check_source
from headway.errors import FlowError, HeadwayError, TopicError
from headway.flow.graph import Flow
from headway.flow.rates import RateSchedule
from headway.flow.steps import Sink, Source, Step
from headway.flow.topics import (
    MadeRecords,
    ReplayedFile,
    ReplayedRecords,
    StreamedFrame,
    Target,
)
from headway.keep.pacing import Pace
from headway.measure.batches import BatchLine
from headway.measure.costs.profile import JobProfile, profile_of

SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
INTERVALS_S = (0.1, 0.3, 1.0, 3.0)  # where a topic follows its own pace
LONGEST_BATCH_S = 3.0  # larger batches are not tried
BATCHES_EACH = 4  # of a size before the next is tried
WARM_BATCHES = 6
ENOUGH = 24  # batches that a profile can be made of
LEAST_BATCHES = 8  # after which a trial may end: fewer say nothing of how batches differ
EVERYTHING = 100_000  # where records follow their own pace; what has piled up comes in such bites
LARGE = 100_000  # batches of so many are tried half as often
IDLE_S = 15.0  # without a batch after which no records are left to try
LOOK_S = 0.05
PATIENCE_S = 60.0  # longer than a trial should take: where records are too few, it ends
FILLED = 700_000  # records that a topic of the trial's own holds: enough for three rounds
AT_ONCE = RateSchedule()
REPLAYED = (ReplayedFile, ReplayedRecords, MadeRecords)
MOST_MADE = 50_000_000


def profile_flow(flow: Flow, trial: Trial) -> JobProfile:
    """Run a flow for a while in each mode that it suits, and say what it costs there."""
    if any(isinstance(source.topic, StreamedFrame) for source in flow.sources):
        raise FlowError(
            "a flow from a streaming DataFrame has no gate that could make batches of other sizes; "
            "its profile is learned while it runs, and kept in its folder as profile.json"
        )
    for source in flow.sources:
        check_source(source)
    session = spark_for(flow, None, trial.settings)
    if not streams(flow):
        return profile_batches(flow, trial, session)
    half_s = trial.seconds / 2
    found = profile_batches(flow, replace(trial, seconds=half_s), session)
    second = replace(
        trial, seconds=half_s, folder=trial.folder / "real-time",
        told=lambda gone_s, note: trial.told(half_s + gone_s, note),
    )  # fmt: skip
    try:
        stream = profile_stream(flow, second, session)
        if not stream.stretches:
            trial.said("real-time mode was not profiled: that takes two minutes or more")
        return replace(found, stream=stream)
    except (HeadwayError, KafkaException) as error:
        trial.said(f"real-time mode was not profiled: {error}")
        return found


def profile_batches(flow: Flow, trial: Trial, session: SparkSession) -> JobProfile:
    """Run a flow with batches of many sizes and say what each phase of it costs."""
    if not resendable(flow):
        return profile_quiet(flow, trial, session)
    with ExitStack() as stack:
        try:
            copy = stack.enter_context(copied(flow))
        except TopicError as error:
            trial.said(str(error))
            return profile_quiet(flow, trial, session)
        with filled(flow, copy, AT_ONCE, FILLED):
            trial.told(0.0, f"{FILLED:,} records made ready")
        return replace(profile_as_is(copy, trial, session, True), flow=flow.fingerprint)


def profile_quiet(flow: Flow, trial: Trial, session: SparkSession) -> JobProfile:
    """Profile a flow whose sinks must not hear of it: what publication costs is not learned."""
    found = profile_as_is(answering_nobody(flow), trial, session, at_will(flow))
    return replace(found, flow=flow.fingerprint)


def profile_as_is(flow: Flow, trial: Trial, session: SparkSession, at_hand: bool) -> JobProfile:
    """Profile a flow with the records that come to it, or that are all at hand."""
    clock = SystemClock()
    settings = replace(
        trial.settings, mode="micro-batch", pace=Pace(interval_s=0.0, max_rows=SIZES[0]),
        until="end",
    )  # fmt: skip
    begun_s = clock.steady_s()
    with run(flow, folder=trial.folder, session=session, settings=settings) as handle:
        ended = Ended(clock, begun_s, trial)
        warm_up(handle, ended)
        warm = len(own_lines(handle))
        ended = Ended(clock, begun_s, trial, lambda: len(own_lines(handle)) >= warm + LEAST_BATCHES)
        try_paces(handle, sizes() if at_hand else intervals(), ended)
    taught = later_half(own_lines(handle)[warm:])
    kept = [without_arrivals(line) if at_hand else line for line in taught]
    return profile_of(kept, flow.fingerprint, "micro-batch", handle.lanes)


def later_half(lines: list[BatchLine]) -> list[BatchLine]:
    """The batches of the later half of the time, when the JVM knows the flow; all if they are few.

    Java gets faster for minutes: what the first half teaches would promise half the rate.
    """
    if not lines:
        return []
    middle_s = (lines[0].started_s + lines[-1].published_s) / 2
    later = [line for line in lines if line.started_s >= middle_s]
    return later if len(later) >= ENOUGH else lines


@dataclass(frozen=True, slots=True)
class Ended:
    """Whether the time of a trial is over, and it has seen enough."""

    clock: Clock
    begun_s: float
    trial: Trial
    enough: Callable[[], bool] = lambda: False

    def __call__(self, note: str) -> bool:
        gone_s = self.clock.steady_s() - self.begun_s
        self.trial.told(min(gone_s, self.trial.seconds), note)
        over = gone_s >= self.trial.seconds
        return over and (self.enough() or gone_s >= self.trial.seconds + PATIENCE_S)


def sizes() -> list[Pace]:
    """A pace for each size of batch."""
    return [Pace(interval_s=0.0, max_rows=size) for size in SIZES]


def intervals() -> list[Pace]:
    """A pace for each interval, each batch taking all that waits."""
    return [Pace(interval_s=seconds, max_rows=EVERYTHING) for seconds in INTERVALS_S]


def warm_up(handle: RunHandle, ended: Ended) -> None:
    """Let a new JVM get to know the flow, with small batches and with larger ones."""
    for size in (10, 1_000, 10_000):
        handle.set_pace(max_rows=size)
        wait_batches(handle, WARM_BATCHES // 2, ended, "warm-up")


def try_paces(handle: RunHandle, paces: list[Pace], ended: Ended) -> None:
    """Run batches at each pace in turn, over and over, until the time is up.

    Every other time with half the readers: what a task costs, and what it spares, is told apart.
    """
    cores, turn = handle.lanes.cores, 0
    while handle.active:
        readers, turn = (cores if turn % 2 == 0 else max(1, cores // 2)), turn + 1
        for place, pace in enumerate(paces):
            every = f"{pace.interval_s}s"
            handle.set_pace(interval=every, max_rows=pace.max_rows, readers=readers)
            clocked = pace.max_rows == EVERYTHING
            note = f"every {pace.interval_s:g} s" if clocked else f"{pace.max_rows:,} records"
            often = clocked or (pace.max_rows or 0) < LARGE
            took_s = wait_batches(handle, BATCHES_EACH if often else 2, ended, note)
            if took_s is None:
                return
            if took_s > LONGEST_BATCH_S:
                del paces[max(place, 1) :]  # the smallest stays: it tells what there is to tell
                break


def wait_batches(handle: RunHandle, count: int, ended: Ended, note: str) -> float | None:
    """Wait for some batches more; how long the last took, or None when the time is up."""
    seen, since_s = len(own_lines(handle)), ended.clock.steady_s()
    wanted = seen + count
    while (now := len(own_lines(handle))) < wanted:
        if now > seen:
            seen, since_s = now, ended.clock.steady_s()
        if ended(note) or not handle.active or ended.clock.steady_s() - since_s > IDLE_S:
            return None
        handle.wait(LOOK_S)
    last = own_lines(handle)[-1]
    return last.published_s - last.started_s


def at_will(flow: Flow) -> bool:
    """Whether all records are there whenever they are wanted."""
    return all(isinstance(source.topic, REPLAYED) for source in flow.sources)


def answering_nobody(flow: Flow) -> Flow:
    """The same flow, its records at hand at once where they are replayed, its answers dropped."""
    return Flow(tuple(quiet_step(step) for step in flow.steps))


def quiet_step(step: Step) -> Step:
    """A step of a flow that answers nobody."""
    if isinstance(step, Sink):
        return replace(step, target=Target("callback", "nobody", drop))
    if isinstance(step, Source) and isinstance(step.topic, REPLAYED):
        topic = replace(step.topic, rate=RateSchedule())
        if isinstance(topic, MadeRecords):
            topic = replace(topic, count=MOST_MADE if topic.count is None else topic.count)
        return replace(step, topic=topic)
    return step


def drop(batch: int, answers: pa.Table) -> None:
    """Take answers and do nothing with them."""

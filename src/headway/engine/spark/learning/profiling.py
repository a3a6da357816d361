"""Run a flow for a while to learn what it costs: batches of many sizes, answers to nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import inf

import pyarrow as pa
from confluent_kafka import KafkaException
from pyspark.sql import SparkSession

from headway.clock import Clock, SystemClock
from headway.engine.spark.folder import checkpoint_of
from headway.engine.spark.learning.copies import SAMPLED, copied, filled, resendable
from headway.engine.spark.learning.streaming import profile_stream, streams
from headway.engine.spark.learning.trial import (
    Trial,
    own_lines,
    stores_tried,
    without_arrivals,
)
from headway.engine.spark.realtime.handover import unfinished
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
from headway.measure.costs.batches import held_anew
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
RESTING_S, DECIDED_S = 1e6, 0.1  # how long a run rests at most; by when a decision is in the log
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
        found = profile_as_is(copy, trial, session, True, SAMPLED)
        return replace(found, flow=flow.fingerprint)


def profile_quiet(flow: Flow, trial: Trial, session: SparkSession) -> JobProfile:
    """Profile a flow whose sinks must not hear of it: what publication costs is not learned."""
    found = profile_as_is(answering_nobody(flow), trial, session, at_will(flow))
    return replace(found, flow=flow.fingerprint)


def profile_as_is(
    flow: Flow, trial: Trial, session: SparkSession, at_hand: bool, unlike: float = inf
) -> JobProfile:
    """Profile a flow with the records that come to it, or that are all at hand.

    After `unlike` records they are the same ones again, which bring no states that are new.
    """
    clock = SystemClock()
    begun_s = clock.steady_s()
    with ExitStack() as stack:
        # All at once, and by turns: what is learned of each is learned in the same minutes.
        handles = [stack.enter_context(each) for each in runs_by_store(flow, trial, session)]
        ended = Ended(clock, begun_s, trial)
        for handle in handles:
            with turn(handle, alone=len(handles) == 1):
                warm_up(handle, ended)
        warm = [len(own_lines(handle)) for handle in handles]

        def seen() -> list[list[BatchLine]]:
            return [own_lines(each)[count:] for each, count in zip(handles, warm, strict=True)]

        ended = replace(ended, enough=lambda: min(map(len, seen())) >= LEAST_BATCHES)
        try_paces(handles, sizes() if at_hand else intervals(), ended)
    lines = sorted((line for own in seen() for line in own), key=lambda line: line.published_s)
    taught = later_half(lines)
    told = [without_arrivals(line) if at_hand else line for line in taught]
    found = profile_of(told, flow.fingerprint, "micro-batch", handles[0].lanes)
    # That states become more is seen from the first batch on, however slow it was.
    every = (line for each in handles for line in own_lines(each))
    kept = held_anew(found.batch.kept_s, every, unlike)
    return replace(found, batch=replace(found.batch, kept_s=kept))


def runs_by_store(flow: Flow, trial: Trial, session: SparkSession) -> Iterator[RunHandle]:
    """A run for each store that is tried; of several each rests until it has its turn."""
    stores = stores_tried(flow, trial.settings)
    pace = Pace(interval_s=RESTING_S if len(stores) > 1 else 0.0, max_rows=SIZES[0])
    settings = replace(trial.settings, mode="micro-batch", pace=pace, until="end")
    for number, store in enumerate(stores):
        place = trial.folder / str(store) if number else trial.folder
        yield run(flow, folder=place, session=session, settings=replace(settings, store=store))


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
        handle.set_pace(interval="0s", max_rows=size)
        wait_batches(handle, WARM_BATCHES // 2, ended, "warm-up")


def try_paces(handles: Sequence[RunHandle], paces: list[Pace], ended: Ended) -> None:
    """Run batches at each pace in turn, over and over, until the time is up.

    Every other time with half the readers: what a task costs, and what it spares, is told apart.
    """
    cores, rounds = handles[0].lanes.cores, 0
    while all(handle.active for handle in handles):
        readers, rounds = (cores if rounds % 2 == 0 else max(1, cores // 2)), rounds + 1
        for place, pace in enumerate(paces):
            longest_s = 0.0
            for handle in handles:
                with turn(handle, alone=len(handles) == 1):
                    took_s = try_pace(handle, replace(pace, readers=readers), ended)
                if took_s is None:
                    return
                longest_s = max(longest_s, took_s)
            if longest_s > LONGEST_BATCH_S:
                del paces[max(place, 1) :]  # the smallest stays: it tells what there is to tell
                break


def try_pace(handle: RunHandle, pace: Pace, ended: Ended) -> float | None:
    """Run some batches at a pace; how long the last took, or None when the time is up."""
    every = f"{pace.interval_s}s"
    handle.set_pace(interval=every, max_rows=pace.max_rows, readers=pace.readers)
    clocked = pace.max_rows == EVERYTHING
    note = f"every {pace.interval_s:g} s" if clocked else f"{pace.max_rows:,} records"
    often = clocked or (pace.max_rows or 0) < LARGE
    return wait_batches(handle, BATCHES_EACH if often else 2, ended, note)


@contextmanager
def turn(handle: RunHandle, alone: bool) -> Iterator[None]:
    """A while in which a run has the machine; one that is not alone rests from then on."""
    yield
    if alone or not handle.active:
        return
    handle.set_pace(interval=f"{RESTING_S}s")
    SystemClock().sleep(DECIDED_S)
    checkpoint = checkpoint_of(handle.folder, handle.flow.sinks[0])
    while handle.active and unfinished(checkpoint):
        handle.wait(LOOK_S)


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

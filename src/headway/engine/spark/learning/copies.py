"""A flow from Kafka on trial: topics of the trial's own, filled with records of the flow's topic.

So the trial has as many records as it wants, when it wants them, and neither reads at the pace of
whoever sends nor tells its answers to whoever listens.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from headway.clock import SystemClock
from headway.engine.kafka.borrowed import borrowed_topic, sample_of
from headway.engine.kafka.distributor import Distributor
from headway.engine.kafka.paced import Message, Paced, send_paced
from headway.errors import PlanError
from headway.flow.graph import Flow
from headway.flow.rates import RateSchedule
from headway.flow.steps import Sink, Source, Step
from headway.flow.topics import KafkaTopic, in_kafka

SAMPLED = 100_000  # as many as the largest batch: keys are as many as in the topic


def resendable(flow: Flow) -> bool:
    """Whether a flow can be tried with records that are sent again and again.

    One that goes by the time in its records cannot: the second time they would all be late.
    """
    return all(isinstance(s.topic, KafkaTopic) and s.time is None for s in flow.sources)


@contextmanager
def copied(flow: Flow) -> Iterator[Flow]:
    """The flow with topics of the trial's own wherever it has topics of Kafka's."""
    with ExitStack() as stack:
        made = [stack.enter_context(copied_step(step)) for step in flow.steps]
        names = {old.name: new.name for old, new in zip(flow.steps, made, strict=True)}
        yield Flow(tuple(reading(step, names) for step in made))


def reading(step: Step, names: Mapping[str, str]) -> Step:
    """A step that takes its input from steps under other names."""
    if isinstance(step, Source):
        return step
    return replace(step, inputs=tuple(names[name] for name in step.inputs))


@contextmanager
def copied_step(step: Step) -> Iterator[Step]:
    """A source or a sink with a topic of the trial's; any other step as it is."""
    match step:
        case Source(topic=KafkaTopic() as topic):
            with borrowed_topic(topic.servers, topic.name) as own:
                # A source goes by the name of its topic.
                yield replace(step, name=own, topic=replace(topic, name=own, start="earliest"))
        case Sink() if step.target.kind == "kafka":
            servers, name = in_kafka(step.target.address)
            with borrowed_topic(servers, name) as own:
                yield replace(step, target=replace(step.target, address=f"{servers}/{own}"))
        case _:
            yield step


@contextmanager
def filled(flow: Flow, copy: Flow, schedule: RateSchedule, count: int) -> Iterator[int]:
    """Send records of a flow's topics to those of its copy; yields when the first is due, in us."""
    samples = [messages_of(source) for source in flow.sources]
    begun_us = SystemClock().now_us()
    with ExitStack() as stack:
        for source, messages in zip(copy.sources, samples, strict=True):
            what = Paced(Turn(messages), schedule, count, begun_us)
            stack.enter_context(sending(source, what))
        yield begun_us


def messages_of(source: Source) -> list[Message]:
    """Some records of a source's topic."""
    topic = source.topic
    assert isinstance(topic, KafkaTopic)
    found = sample_of(topic.servers, topic.name, SAMPLED)
    if not found:
        raise PlanError(f"topic {topic.name!r} has no records to learn from; send it some")
    return found


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages without end: after the last one comes the first again."""

    messages: Sequence[Message]

    def __call__(self, first: int, stop: int) -> Iterator[Message]:
        return (self.messages[number % len(self.messages)] for number in range(first, stop))


@contextmanager
def sending(source: Source, what: Paced) -> Iterator[None]:
    """Messages into the topic of a source, as they are due, until the block ends."""
    assert isinstance(source.topic, KafkaTopic)
    over, failed = threading.Event(), list[Exception]()

    def send() -> None:
        try:
            send_paced(to, what, SystemClock(), over.is_set)
        except Exception as error:
            failed.append(error)

    with Distributor(source.topic.name, at=source.topic.servers, every="1ms") as to:
        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        try:
            yield
        finally:
            if what.schedule.steps:  # what is due at once is sent to its end
                over.set()
            thread.join()
    if failed:
        raise failed[0]

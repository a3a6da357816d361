"""The two ways in which Spark runs a flow, what each batches by, and which flows suit which."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from headway.errors import FlowError
from headway.flow.graph import Flow
from headway.flow.steps import PairStep, Source, Step
from headway.flow.topics import KafkaTopic, describe_topic

Mode = Literal["micro-batch", "real-time"]
MODES: tuple[Mode, ...] = get_args(Mode)
# Spark makes code anew at each checkpoint, which takes some 20 ms of its pause, and what runs it
# takes two thirds of the time for a record. Checkpoints that are closer than this are asked for
# by those to whom the pause matters.
CODE_FROM_S = 10.0


@dataclass(frozen=True, slots=True)
class RealTime:
    """What batches records in real-time mode, where tasks run on and records pass one by one.

    checkpoint_s    time between two checkpoints, each a pause; a crash repeats what came since
    fetch_wait_s    how long Kafka may keep a fetch back that has less than `fetch_bytes` to bring
    fetch_bytes     how many bytes a fetch must bring to be answered sooner
    poll_records    the most records that a task takes from the client at once
    shuffle_wait_s  how long a record may wait for others on its way to the reducer
    shuffle_bytes   how many bytes of records are sent to the reducer without waiting
    tasks           how many tasks reduce; fixed for the life of a checkpoint
    code            whether code is made of it; None: unless checkpoints are less than 10 s apart
    """

    checkpoint_s: float = 60.0
    fetch_wait_s: float = 0.5
    fetch_bytes: int = 1
    poll_records: int = 500
    shuffle_wait_s: float = 0.001
    shuffle_bytes: int = 32_768
    tasks: int = 1
    code: bool | None = None

    def __post_init__(self) -> None:
        for name in ("checkpoint_s", "fetch_bytes", "poll_records", "shuffle_bytes", "tasks"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0; got {getattr(self, name):g}")
        for name in ("fetch_wait_s", "shuffle_wait_s"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative; got {getattr(self, name):g}")

    @property
    def makes_code(self) -> bool:
        """Whether code is made of the flow.

        >>> RealTime().makes_code, RealTime(checkpoint_s=1).makes_code
        (True, False)
        """
        return self.checkpoint_s >= CODE_FROM_S if self.code is None else self.code


def check_mode(mode: str) -> None:
    """Refuse a word that is no mode."""
    if mode not in MODES:
        raise ValueError(f"mode must be {' or '.join(map(repr, MODES))}; got {mode!r}")


def suits_real_time(part: Flow) -> bool:
    """Whether the part of a flow that leads to one sink can run in real-time mode."""
    return not obstacles(part)


def modes_of(flow: Flow) -> tuple[Mode, ...]:
    """The modes that a flow can run in."""
    suits = all(suits_real_time(flow.part_for(sink)) for sink in flow.sinks)
    return MODES if suits else ("micro-batch",)


def check_suits(flow: Flow, mode: Mode) -> None:
    """Refuse a mode that a flow cannot run in, with the steps that prevent it."""
    if mode == "micro-batch":
        return
    found = [why for sink in flow.sinks for why in obstacles(flow.part_for(sink))]
    if found:
        reasons = "\n".join(f"  - {why}" for why in dict.fromkeys(found))
        raise FlowError(
            f"this flow cannot run in real-time mode:\n{reasons}\nRun it in micro-batch."
        )


def obstacles(part: Flow) -> list[str]:
    """Why a part cannot run in real-time mode, step by step; empty when it can."""
    found: list[str] = []
    for step in part.steps:
        match step:
            case Source():
                found += source_obstacles(step)
            case PairStep():
                found.append(
                    f"pair {step.name!r} is Python, whose rows Spark holds back there until a "
                    "checkpoint; write it as .reduce(name='sql aggregate')"
                )
    found += [
        f"step {step.name!r} feeds several steps, and Spark does not fork a stream there; "
        "make two flows of it"
        for step in part.steps
        if len(readers_of(part, step)) > 1
    ]
    target = part.sinks[0].target
    if target.kind != "kafka":
        found.append(
            f"sink {part.sinks[0].name!r} is {target.kind}, which takes whole batches; answers go "
            "one by one into a topic of Kafka's: .to('kafka://host:port/topic')"
        )
    if len(part.stateful()) > 1:
        found.append("it has several stateful steps, and one is what runs there")
    return found


def source_obstacles(source: Source) -> list[str]:
    """Why a source cannot be read in real-time mode."""
    if not isinstance(source.topic, KafkaTopic):
        return [
            f"source {source.name!r} is {describe_topic(source.topic)}; only topics of Kafka's are "
            "read record by record"
        ]
    if source.topic.format == "avro" and re.search(r"array<|decimal\(", str(source.schema)):
        return [
            f"source {source.name!r} is in Avro with arrays or decimals, which may be written in "
            "several ways, so Spark cannot tell there whether they were read whole; use JSON"
        ]
    return []


def readers_of(part: Flow, step: Step) -> list[Step]:
    """The steps that take their input from a step."""
    return [other for other in part.steps if step.name in other.inputs]

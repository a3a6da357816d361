"""The records that enter and the answers that leave the reference engine, as frozen values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Reason = Literal["unreadable", "late", "failed", "unfinished"]


@dataclass(frozen=True, slots=True)
class Arrived:
    """One record of a source; among equal arrivals its place in the topic, `seq`, decides."""

    arrival_us: int
    seq: int
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one micro-batch admitted, by source; with no record at all it only closes windows.

    `watermark_ms` is the watermark at its start where a log says so; None means computed.
    """

    admitted: Mapping[str, Sequence[Arrived]]
    watermark_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One row that leaves at the sink, with the number of the batch that published it."""

    batch: int
    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SetAside:
    """A record that no answer holds, with the step that set it aside and why.

    `key` is None at the gate. `record` is the source's record at the gate and in a pair's map, the
    mapped value in its update (reason failed), and a window's state in its finalize (unfinished).
    """

    step: str
    reason: Reason
    key: Any
    record: Any
    detail: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that came of a run; the order of answers within a batch means nothing."""

    answers: tuple[Answer, ...]
    set_aside: tuple[SetAside, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A record between two steps: its time, its place in the order of arrival, its columns."""

    time_us: int
    order: tuple[int, int]
    row: dict[str, Any]


def one_by_one(source_name: str, records: Iterable[Arrived]) -> list[Batch]:
    """Batches of one record each."""
    return [Batch({source_name: (record,)}) for record in records]

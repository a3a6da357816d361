"""A Python pair on Spark: records travel and states rest by the bucket of keys, not by the key.

    rows --mapInArrow--> one row per bucket and task --shuffle--> one call per bucket --> answers

Spark's own Python state interfaces pay for each key of a batch; here Spark sees one group, one
state and one row per bucket, and Python does the rest in a tight loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from headway.engine.pairs.buckets import BucketStates
from headway.engine.pairs.packing import Packer
from headway.engine.pairs.parcels import PackedRow
from headway.engine.pairs.unpack import unpack_answers
from headway.flow.steps import PairStep, Step

STATE = "token bigint, states binary"
ANSWERS = "answers"
REMEMBERED: dict[bytes, BucketStates] = {}
STEPS_REMEMBERED = 4
PARCELS = "bucket int, closed_us bigint, records binary"


@dataclass(frozen=True, slots=True)
class PairSettings:
    """How pairs run: into how many buckets keys are hashed, and where failed records go."""

    buckets: int = 16
    quarantine: Path = field(default_factory=lambda: Path("quarantine"))


def run_pair(frame: DataFrame, step: PairStep, settings: PairSettings) -> DataFrame:
    """Run one pair over a stream of rows."""
    frozen = cloudpickle.dumps((step, settings))  # type: ignore[no-untyped-call]
    packed = frame.mapInArrow(map_with(frozen), PARCELS)
    answers = packed.groupBy("bucket").applyInPandasWithState(
        update_with(frozen), f"{ANSWERS} binary", STATE, "append", GroupStateTimeout.NoTimeout
    )
    return answers


def unpack(frame: DataFrame, made_by: Step) -> DataFrame:
    """Answers of a pair as rows, for a step that reads them; other frames as they are."""
    if not isinstance(made_by, PairStep):
        return frame
    return frame.mapInArrow(unpack_rows, str(made_by.pair.output()))


def map_with(frozen: bytes) -> Any:
    """The function that packs the rows of one task into buckets."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        step, settings = cloudpickle.loads(frozen)
        packer = Packer(step, settings.buckets, settings.quarantine)
        for batch in batches:
            packer.add(batch)
        yield packer.finish()

    return pack


def update_with(frozen: bytes) -> Any:
    """The function that Spark calls for each bucket that has records."""

    def update(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        states = states_of(frozen)
        rows = [
            PackedRow(*row)
            for frame in frames
            for row in zip(frame["closed_us"], frame["records"], strict=True)
        ]
        held = state.get if state.exists else None
        kept, answers = states.update(int(key[0]), rows, held)
        state.update(kept)
        if answers is not None:
            yield pd.DataFrame({ANSWERS: [answers]})

    return update


def states_of(frozen: bytes) -> BucketStates:
    """The states that this worker remembers of a step; Spark makes `update` anew for each task."""
    if frozen not in REMEMBERED:
        while len(REMEMBERED) >= STEPS_REMEMBERED:
            REMEMBERED.pop(next(iter(REMEMBERED)))
        step, settings = cloudpickle.loads(frozen)
        REMEMBERED[frozen] = BucketStates(step, settings.quarantine)
    return REMEMBERED[frozen]


def unpack_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn packed answers back into rows."""
    for batch in batches:
        yield from unpack_answers(batch)

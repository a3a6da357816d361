"""A clock that steps back moves no position back: nothing is lost, nothing is doubled."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import headway as hw
from headway.clock import Clock
from headway.engine.spark.gate.admission import Admission, Shape
from headway.engine.spark.gate.control import Control
from headway.engine.spark.gate.offsets import GateOffset
from headway.engine.spark.gate.source import GateReader, GateSpec, Share
from headway.engine.topics.port import Slice
from headway.workloads.makers.keyed import Keyed

NO_LIMIT = None
START_US = 1_760_000_000_000_000


class SteppedClock(Clock):
    """A wall clock that is set by hand; the steady one goes on by itself."""

    def __init__(self) -> None:
        self.wall_us, self.steady = START_US, 0.0

    def now_us(self) -> int:
        return self.wall_us

    def steady_s(self) -> float:
        self.steady += 1.0
        return self.steady

    def sleep(self, seconds: float) -> None:
        self.steady += seconds


def gate_of(clock: SteppedClock, control: Control, place: Path) -> GateReader:
    stream = hw.replay(Keyed(keys=3), rate=100, count=10_000)
    source = stream.to("console").sources[0]
    admission = Admission(source, Shape(("key", "value")), place / "quarantine")
    return GateReader(GateSpec(admission, place / "topics", control.address), clock)


@given(steps_s=st.lists(st.floats(-5, 5), min_size=1, max_size=20))
def test_positions_never_go_back_and_every_record_is_in_one_batch(
    steps_s: list[float],
) -> None:
    clock = SteppedClock()
    control = Control(hw.Pace(interval_s=0, readers=2), None, clock)
    control.attach(lambda: 0)
    gate = gate_of(clock, control, Path("unused"))
    at = gate.initialOffset()
    taken: list[Slice] = []
    try:
        for step_s in steps_s:
            clock.wall_us += round(step_s * 1e6)
            end = gate.latestOffset(at, NO_LIMIT)  # type: ignore[arg-type]
            shares = gate.partitions(at, end) if end != at else []
            taken += [p for s in shares if isinstance(s, Share) for p in s.slices]
            at = end
    finally:
        control.close()
    ends = [0, *(piece.stop for piece in taken)]
    assert [piece.first for piece in taken] == ends[:-1], "a gap, or a record taken twice"
    assert GateOffset.from_dict("keyed", at).position == {"0": ends[-1]}

"""One checkpoint that the gate and Kafka's own source can both read."""

from __future__ import annotations

import json
from pathlib import Path

from headway.engine.spark.gate.offset_log import read_offset_log
from headway.engine.spark.gate.offsets import NATIVE, Decision, GateOffset
from headway.engine.spark.realtime.handover import (
    begins_in,
    last_by_gate,
    leave_positions,
    unfinished,
    watermark_before,
)
from headway.engine.spark.realtime.needs import reducers


def decide(checkpoint: Path, batch: int, stop: int, done: bool = True) -> None:
    """Enter a batch in the log as the gate does."""
    for name in ("offsets", "commits"):
        (checkpoint / name).mkdir(exist_ok=True)
    about = {"batchWatermarkMs": batch * 10, "conf": {"spark.sql.shuffle.partitions": "3"}}
    offset = GateOffset("t", {"0": stop}, Decision({"0": 5}, t0_us=1, readers=2))
    lines = ["v1", json.dumps(about), json.dumps(offset.to_dict())]
    (checkpoint / "offsets" / str(batch)).write_text("\n".join(lines))
    if done:
        (checkpoint / "commits" / str(batch)).write_text("v1\n{}")


def test_positions_stay_and_decisions_go(tmp_path: Path) -> None:
    for batch in range(4):
        decide(tmp_path, batch, 10 + batch)
    begins = begins_in(tmp_path)
    assert begins == {"t": {"0": 5}}
    assert last_by_gate(tmp_path)
    before = read_offset_log(tmp_path)
    leave_positions(tmp_path)
    assert not last_by_gate(tmp_path)
    after = read_offset_log(tmp_path, begins)
    assert [b.ends["t"].position for b in after] == [b.ends["t"].position for b in before]
    assert [b.starts for b in after] == [b.starts for b in before]
    assert [b.ends["t"].decision.because for b in after] == ["start", "start", NATIVE, NATIVE]
    assert all(batch.ends["t"].decision.begin == {"0": 5} for batch in after)
    kept = (tmp_path / "offsets" / "3").read_text()
    leave_positions(tmp_path)  # once more, after a crash in between, say
    assert (tmp_path / "offsets" / "3").read_text() == kept
    assert json.loads(kept.split("\n")[2]) == {"t": {"0": 13}}


def test_a_batch_without_its_commit_is_unfinished(tmp_path: Path) -> None:
    assert not unfinished(tmp_path)
    decide(tmp_path, 0, 10)
    assert not unfinished(tmp_path)
    decide(tmp_path, 1, 20, done=False)
    assert unfinished(tmp_path)


def test_what_the_log_says_of_watermarks_and_reducers(tmp_path: Path) -> None:
    assert reducers(tmp_path, 7) == 7
    decide(tmp_path, 0, 10)
    decide(tmp_path, 1, 20)
    assert reducers(tmp_path, 7) == 3
    assert [watermark_before(tmp_path, batch) for batch in (0, 1, 2)] == [0, 0, 10]
    assert begins_in(tmp_path / "elsewhere") == {}

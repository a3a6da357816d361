"""The crash kit itself: a check that could not fail would prove nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from headway.clock import SystemClock
from headway.engine.reference.run import Answer
from headway.engine.spark.gate.offsets import Decision, GateOffset
from headway.testing.compare import compare
from headway.testing.logs import made_lines
from headway.testing.offset_log import (
    Snapshot,
    changed_decisions,
    read_offset_log,
    take_snapshot,
)
from headway.testing.processes import LEASH, family, kill_family


def logged(stop: int, wm_ms: int = 0) -> str:
    offset = GateOffset("tweets", {"0": stop}, Decision({"0": 3}, wm_ms=wm_ms))
    return f'v1\n{{"batchWatermarkMs": {wm_ms}}}\n{json.dumps(offset.to_dict())}'


def write_log(checkpoint: Path, offsets: list[str], committed: int) -> None:
    for name, texts in (("offsets", offsets), ("commits", offsets[:committed])):
        (checkpoint / name).mkdir()
        for number, text in enumerate(texts):
            (checkpoint / name / str(number)).write_text(text)
    (checkpoint / "offsets" / ".3.crc").write_text("not a batch")


def test_the_log_says_where_each_batch_starts_and_ends_and_whether_it_completed(
    tmp_path: Path,
) -> None:
    write_log(tmp_path, [logged(10), logged(25, wm_ms=7)], committed=1)
    first, second = read_offset_log(tmp_path)
    assert (first.starts, first.ends["tweets"].position) == ({"tweets": {"0": 3}}, {"0": 10})
    assert (second.starts, second.ends["tweets"].position) == ({"tweets": {"0": 10}}, {"0": 25})
    assert (first.committed, second.committed, second.watermark_ms) == (True, False, 7)
    assert take_snapshot(tmp_path).interrupted == {1}


def test_a_log_that_was_purged_gives_no_batch_whose_start_is_unknown(tmp_path: Path) -> None:
    write_log(tmp_path, [logged(10), logged(20), logged(30)], committed=3)
    (tmp_path / "offsets" / "0").unlink()
    assert [batch.batch for batch in read_offset_log(tmp_path)] == [2]


def test_a_decision_that_changed_or_was_not_followed_is_found() -> None:
    before = Snapshot({0: logged(10), 1: logged(20)}, frozenset({0}))
    line = replace(made_lines(1)[0], batch=1, end={"tweets": {"0": 20}}, watermark_s=0.0)
    same = Snapshot(before.offsets, frozenset({0, 1}))
    assert changed_decisions([before], same, [line]) == []

    other = Snapshot({0: logged(10), 1: logged(21)}, frozenset({0, 1}))
    assert len(changed_decisions([before], other, [line])) == 2
    assert len(changed_decisions([before], before, [])) == 1
    assert len(changed_decisions([], same, [replace(line, watermark_s=1.0)])) == 1


def test_an_answer_in_another_batch_is_both_lost_and_too_many() -> None:
    found = compare([Answer(1, {"n": 1.0})], [Answer(2, {"n": 1.0})])
    assert (found.lost.total(), found.doubled.total()) == (1, 1)
    assert not compare([Answer(1, {"a": 1, "b": 2})], [Answer(1, {"b": 2, "a": 1})])


def test_a_family_is_killed_whole_even_where_a_member_left_the_process_group() -> None:
    script = "import os, subprocess, sys, time; " \
        "subprocess.Popen([sys.executable, '-c', 'import os, time; os.setpgid(0, 0); " \
        "time.sleep(60)']); print('up', flush=True); time.sleep(60)"  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True
    ) as leader:
        assert leader.stdout is not None
        leader.stdout.readline()
        for _ in range(500):
            if len({process.group for process in family(leader.pid)}) == 2:
                break
            SystemClock().sleep(0.01)
        assert len(family(leader.pid)) == 2
        kill_family(leader.pid)
        assert family(leader.pid) == []


def test_what_is_on_a_leash_dies_with_its_parent() -> None:
    script = "import subprocess, sys, time; " \
        "print(subprocess.Popen(sys.argv[1:], start_new_session=True).pid, flush=True); " \
        "time.sleep(60)"  # fmt: skip
    command = [sys.executable, "-c", script, *LEASH, "sleep", "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        while not any(process.name == "sleep" for process in family(child)):
            SystemClock().sleep(0.01)
        parent.kill()
        for _ in range(500):
            if not family(child):
                break
            SystemClock().sleep(0.01)
        assert family(child) == []

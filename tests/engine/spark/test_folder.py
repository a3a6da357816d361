"""A run's folder: one flow, one set of buckets, one process at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

import headway as hw
from headway.engine.spark.folder import open_folder
from headway.errors import CheckpointError

FLOW = hw.replay([{"a": 1}]).key("a").reduce(n="count(*)").to("console")
OTHER = hw.replay([{"a": 1}]).key("a").reduce(n="sum(a)").to("console")


def test_a_folder_remembers_its_run(tmp_path: Path) -> None:
    first = open_folder(tmp_path, FLOW, 16)
    first.release()
    again = open_folder(tmp_path, FLOW, 16)
    assert (first.fresh, again.fresh) == (True, False)
    assert first.run == again.run
    again.release()


def test_a_folder_of_another_flow_shows_both(tmp_path: Path) -> None:
    open_folder(tmp_path, FLOW, 16).release()
    with pytest.raises(CheckpointError, match=r"another flow[\s\S]*count[\s\S]*sum\(a\)"):
        open_folder(tmp_path, OTHER, 16)


def test_states_would_not_be_found_in_other_buckets(tmp_path: Path) -> None:
    open_folder(tmp_path, FLOW, 16).release()
    with pytest.raises(CheckpointError, match="Set buckets=16 again"):
        open_folder(tmp_path, FLOW, 32)


def test_answers_without_a_checkpoint_stop_the_start(tmp_path: Path) -> None:
    folder = open_folder(tmp_path, FLOW, 16)
    folder.check_checkpoint(FLOW.sinks[0], answered=False)
    with pytest.raises(CheckpointError, match="is gone, but answers of this run are out"):
        folder.check_checkpoint(FLOW.sinks[0], answered=True)
    folder.release()

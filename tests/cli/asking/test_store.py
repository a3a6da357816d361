"""Annotated tables are found again by the files they were made of and how they were sampled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from headway.cli.asking.store import (
    Store,
    Wishes,
    by_default,
    open_given,
    points_for,
    sampling_digest,
    settle,
    source_digest,
)
from headway.cli.asking.tables import By, Growth
from headway.cli.outcome import UsedWrongly
from headway.clock import SystemClock
from headway.early.sampling import Sampling
from headway.engine.early.storage import VERSION

FIELD = {"name": "n", "type": "long", "nullable": True, "metadata": {}}


def kept(folder: Path, sampling: Sampling) -> Path:
    """A folder that holds an annotated table without tuples."""
    folder.mkdir(parents=True)
    found = {"version": VERSION, "sampling": sampling.as_json(), "files": [],
             "schema": {"type": "struct", "fields": [FIELD]}, "entering": [0],
             "clusters": {"by": [], "count": 0}, "digest": ""}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(found))
    return folder


def test_a_table_has_another_digest_when_a_file_of_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("n\n1\n")
    first = source_digest(file)
    assert source_digest(file) == first
    os.utime(file, ns=(1, 1))
    assert source_digest(file) != first
    in_folder = source_digest(tmp_path)
    (tmp_path / "b.csv").write_text("n\n2\n")
    assert source_digest(tmp_path) != in_folder
    assert sampling_digest(Sampling("row", seed=1)) != sampling_digest(Sampling("row"))


def test_a_kept_table_is_reused_and_tells_its_columns_without_spark(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("n\n1\n")
    sampling = Sampling("key", ("n",), 5)
    kept(tmp_path / "s" / source_digest(file) / sampling_digest(sampling), sampling)
    said: list[str] = []
    store = Store(tmp_path / "s", None, said.append, SystemClock())
    found = settle({"t": file}, {}, Wishes((By(None, "key", ("n",)),), Growth(5)), store)
    assert found["t"].sampling == sampling
    assert source_digest(file) in found["t"].source
    assert said == [f"table t: reused from {found['t'].folder}"]


def test_a_table_that_is_annotated_already_is_taken_as_it_is(tmp_path: Path) -> None:
    tables = {"t": kept(tmp_path / "t", Sampling("row", points=7))}
    opened = open_given(tables)
    assert points_for(opened, 20) == 7
    assert by_default(tables, opened, ()) is None
    store = Store(tmp_path / "s", None, lambda _: None, SystemClock())
    assert settle(tables, opened, Wishes((), Growth()), store) == opened
    with pytest.raises(UsedWrongly, match="annotated already"):
        settle(tables, opened, Wishes((By("t", "row"),), Growth()), store)


def test_without_a_by_the_largest_table_that_is_not_annotated_goes_by_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n1\n")
    tables = {"a": tmp_path / "a.csv", "t": kept(tmp_path / "t", Sampling("start", points=1))}
    assert by_default(tables, open_given(tables), ()) == By("a", "row")
    assert by_default(tables, open_given(tables), (By("a", "start"),)) is None

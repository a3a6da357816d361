"""Sinks: a batch that is published again changes nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from headway.engine.spark.sinks import Publisher, open_sink
from headway.engine.topics.spool import list_files
from headway.flow.topics import Target

ANSWERS = pa.table({"word": ["a", "b"], "n": [1, 2]})
OTHER = pa.table({"word": ["c"], "n": [9]})


def test_a_parquet_batch_is_written_once(tmp_path: Path) -> None:
    for answers in (ANSWERS, OTHER):
        sink = open_sink(Target("parquet", str(tmp_path / "out")), tmp_path / "own", "run")
        sink.publish(3, answers)
    assert pyarrow.parquet.read_table(tmp_path / "out").to_pylist() == ANSWERS.to_pylist()


def test_a_spool_batch_is_appended_once_per_run(tmp_path: Path) -> None:
    for run in ("one", "one", "two"):
        sink = open_sink(Target("spool", str(tmp_path / "out")), tmp_path / "own", run)
        sink.publish(3, ANSWERS)
    assert [file.tag for file in list_files(tmp_path / "out" / "p0")] == ["one-3", "two-3"]


def test_a_function_is_called_once_per_batch(tmp_path: Path) -> None:
    calls: list[int] = []
    target = Target("callback", "f", lambda batch, answers: calls.append(batch))
    for batch in (0, 1, 1, 2):
        open_sink(target, tmp_path / "own", "run").publish(batch, ANSWERS)
    assert calls == [0, 1, 2]


def test_a_function_that_raises_is_called_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def fails_first(batch: int, answers: pa.Table) -> None:
        calls.append(batch)
        if len(calls) == 1:
            raise OSError("away")

    sink = open_sink(Target("callback", "f", fails_first), tmp_path / "own", "run")
    with pytest.raises(OSError, match="away"):
        sink.publish(0, ANSWERS)
    sink.publish(0, ANSWERS)
    assert calls == [0, 0]


@pytest.mark.parametrize("kind", ["parquet", "spool"])
def test_a_sink_knows_whether_answers_are_out(kind: str, tmp_path: Path) -> None:
    sink: Publisher = open_sink(Target(kind, str(tmp_path / "out")), tmp_path / "own", "r")  # type: ignore[arg-type]
    assert not sink.any_published()
    sink.publish(0, ANSWERS)
    assert sink.any_published()


def test_the_console_shows_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_sink(Target("console"), tmp_path, "run").publish(4, ANSWERS)
    shown = capsys.readouterr().out
    assert "batch 4: 2 answers" in shown
    assert "word" in shown

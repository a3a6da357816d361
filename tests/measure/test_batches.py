"""The log of batches outlives a line that was cut short."""

from __future__ import annotations

from pathlib import Path

from headway.measure.batches import BatchLog
from headway.testing.logs import made_lines


def test_a_line_cut_short_harms_neither_its_neighbours_nor_the_next(tmp_path: Path) -> None:
    first, second, third = made_lines(3)
    log = BatchLog(tmp_path / "batches.jsonl")
    log.append(first)
    with log.path.open("a") as file:
        file.write(second.to_json()[:100])
    log.append(third)
    assert list(log.lines()) == [first, third]

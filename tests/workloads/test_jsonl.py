"""Files of JSON lines: repeatable to the byte, and broken in as many lines as is said."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from headway.workloads.makers.clicks import Clicks
from headway.workloads.makers.jsonl import write_jsonl
from headway.workloads.makers.keyed import Keyed
from headway.workloads.makers.tweets import Tweets

COUNT = 25_000


def whole(line: str, wanted: dict[str, Any]) -> bool:
    """Whether a line is the record that was wanted in its place."""
    try:
        found = json.loads(line)
    except ValueError:
        return False
    if "time" in found and isinstance(found["time"], str):
        found["time"] = datetime.fromisoformat(found["time"])
    return bool(found == wanted)


@pytest.mark.parametrize("maker", [Tweets(), Clicks(), Keyed()], ids=repr)
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_as_many_lines_are_broken_as_is_said(
    maker: Tweets | Clicks | Keyed, share: float, tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"
    broken = write_jsonl(maker, path, 2_000, broken_share=share)
    lines = path.read_text().splitlines()
    wanted = maker.make(0, 2_000).to_pylist()
    assert sum(not whole(*pair) for pair in zip(lines, wanted, strict=True)) == broken


def test_the_wanted_share_of_lines_is_broken(tmp_path: Path) -> None:
    broken = write_jsonl(Keyed(), tmp_path / "keyed.jsonl", COUNT, broken_share=0.05)
    assert abs(broken / COUNT - 0.05) < 0.01


def test_lines_break_in_four_ways(tmp_path: Path) -> None:
    path = tmp_path / "keyed.jsonl"
    write_jsonl(Keyed(), path, 1_000, broken_share=1.0)
    lines = path.read_text().splitlines()
    wrong_type = [line for line in lines if line.endswith('"value":["not a value"]}')]
    cut_off = [line for line in lines if line.startswith("{") and not line.endswith("}")]
    counts = [len(wrong_type), len(cut_off), lines.count("{}")]
    counts.append(lines.count("-- this line is not JSON --"))
    assert sum(counts) == 1_000
    assert all(150 < count < 350 for count in counts)


def test_the_same_arguments_give_the_same_bytes_packed_or_not(tmp_path: Path) -> None:
    one, two, plain = (tmp_path / name for name in ("a.jsonl.gz", "b.jsonl.gz", "c.jsonl"))
    for path in (one, two, plain):
        write_jsonl(Clicks(), path, COUNT, broken_share=0.01)
    assert one.read_bytes() == two.read_bytes()
    assert gzip.decompress(one.read_bytes()) == plain.read_bytes()


def test_a_longer_file_begins_like_a_shorter_one(tmp_path: Path) -> None:
    short, long = tmp_path / "short.jsonl", tmp_path / "long.jsonl"
    write_jsonl(Keyed(), short, 100, broken_share=0.2)
    write_jsonl(Keyed(), long, 15_000, broken_share=0.2)
    assert long.read_bytes().startswith(short.read_bytes())

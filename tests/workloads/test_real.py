"""Real data is declared with columns that hold its time, and its absence is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.errors import TopicError
from headway.flow.steps import Source
from headway.flow.topics import ReplayedFile
from headway.workloads.real import REAL, replay_real


@pytest.mark.parametrize("name", REAL)
def test_a_file_in_the_folder_becomes_a_stream_with_its_event_time(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / REAL[name].file).write_bytes(b"")
    stream = replay_real(name, tmp_path, rate=50)
    source = stream.steps[0]
    assert isinstance(source, Source)
    assert isinstance(source.topic, ReplayedFile)
    assert source.topic.rate.rate_at(0) == 50
    assert source.time == REAL[name].time
    assert source.time.column in (stream.columns or ())


@pytest.mark.parametrize("name", REAL)
def test_an_absent_file_is_named_with_what_to_do(name: str, tmp_path: Path) -> None:
    with pytest.raises(TopicError, match=rf"no file '{REAL[name].file}'.*--data FOLDER"):
        replay_real(name, tmp_path)


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="no real data called 'stars'; there is tweets"):
        replay_real("stars", tmp_path)

"""What Spark says of a query that failed, turned into what a user can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.engine.spark.query import explain
from headway.errors import CheckpointError, RunError, TopicError

CASES: list[tuple[str, type, str]] = [
    (
        "[STREAMING_REAL_TIME_MODE.CHECKPOINT_FORMAT_V1_NOT_SUPPORTED] no",
        CheckpointError,
        "Go on in micro-batch",
    ),
    ("java.io.IOException: No space left on device", RunError, "Free some space"),
    (
        "x: headway.errors.TopicError: the topic is gone\n\tat org.x",
        TopicError,
        "^the topic is gone$",
    ),
    ("something else", RunError, "the query stopped: something else"),
]


@pytest.mark.parametrize(("said", "kind", "words"), CASES, ids=lambda case: str(case)[:20])
def test_a_failure_is_explained(said: str, kind: type, words: str) -> None:
    error: Any = Exception(said)
    found = explain(error, Path("checkpoint"))
    assert type(found) is kind
    with pytest.raises(kind, match=words):
        raise found

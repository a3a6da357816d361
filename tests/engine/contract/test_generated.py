"""Flows, windows, lateness and skew that nobody thought of, on both engines."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import headway as hw
from headway.flow.stream import Stream
from headway.workloads.words import WindowedWords
from tests.engine.contract.both import assert_engines_agree
from tests.engine.contract.test_contract import Counting, FirstAndLast

pytestmark = pytest.mark.spark
START = datetime(2026, 3, 1, tzinfo=UTC)
AGGREGATES = ["count(*)", "sum(size)", "min(size)", "max(text)", "avg(size)", "count_if(size > 2)"]
STEPS = ["size > 0", "user IS NOT NULL", "length(text) < 6"]

RECORDS = st.lists(
    st.builds(
        lambda at, user, text, size: {
            "time": START + timedelta(milliseconds=at), "user": user, "text": text, "size": size
        },
        st.integers(0, 40).map(lambda tick: tick * 500),  # ties, disorder and exact window ends
        st.sampled_from(["ann", "ann", "ann", "bob", "cyd", None]),  # skewed
        st.text("ab ", max_size=6),
        st.integers(-3, 5),
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip
WINDOWS = st.tuples(
    st.sampled_from([1000, 2500, 4000]),
    st.sampled_from([1000, 1500, 4000]),
    st.sampled_from([0, 500, 3000]),
)


@st.composite
def flows(draw: st.DrawFn) -> Any:
    """A source, perhaps a filter, perhaps windows, then a reduce or a pair."""
    records = draw(RECORDS)
    where = draw(st.none() | st.sampled_from(STEPS))
    window = draw(st.none() | WINDOWS)
    kind = draw(st.sampled_from(["reduce", "reduce", "pair"]))
    made = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=3, unique=True))

    def build() -> Stream:
        schema = "time timestamp, user string, text string, size bigint"
        stream = hw.replay(records, schema=schema, time="time", name="tweets")
        stream = (stream.filter(where) if where else stream).key("user")
        if window:
            size, slide, late = window
            stream = stream.window(f"{size}ms", slide=f"{min(size, slide)}ms", lateness=f"{late}ms")
        if kind == "reduce":
            return stream.reduce(**{f"a{n}": text for n, text in enumerate(made)})
        if window:
            return stream.pair(FirstAndLast() if len(made) > 1 else WindowedWords())
        return stream.pair(Counting())

    return build


@settings(
    max_examples=4,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.generate],  # each run takes seconds: none is spent on making a failure small
)
@given(build=flows(), max_rows=st.sampled_from([7, 13]), readers=st.sampled_from([1, 3]))
def test_engines_agree_on_whatever_is_built(
    build: Any, max_rows: int, readers: int, spark: SparkSession
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pace = hw.Pace(interval_s=0, max_rows=max_rows, readers=readers)
        assert_engines_agree(spark, build, Path(folder) / "run", pace)

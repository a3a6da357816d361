"""A flow in words tells what it costs to have no gate, and why a mode is out of reach."""

from __future__ import annotations

from types import SimpleNamespace

import headway as hw
from headway.plan.explain import explain


def streaming(**kinds: str) -> SimpleNamespace:
    """What `stream` looks at in a DataFrame."""
    fields = [
        SimpleNamespace(name=name, dataType=SimpleNamespace(simpleString=lambda kind=kind: kind))
        for name, kind in kinds.items()
    ]
    return SimpleNamespace(isStreaming=True, schema=fields)


def test_a_frame_without_a_gate_is_explained() -> None:
    flow = hw.stream(streaming(word="string"), name="mine").to("parquet:out")
    text = explain(flow)
    assert "source mine: streaming DataFrame of word string" in text
    assert "source 'mine' is a streaming DataFrame: answers are measured" in text
    assert "nothing can be held back under overload" in text
    assert "latency counts from the start of a batch; name a column with arrival=..." in text


def test_a_frame_that_tells_arrivals_is_not_asked_for_them() -> None:
    frame = streaming(word="string", came="timestamp")
    text = explain(hw.stream(frame, arrival="came").to("parquet:out"))
    assert "name a column with arrival" not in text


def test_the_modes_of_each_sink_are_told() -> None:
    topic = hw.topic("in", at="kafka://localhost:9092", schema="key string")
    counts = topic.key("key").reduce(n="count(*)")
    text = explain(counts.to("kafka://localhost:9092/out") + counts.to("parquet:kept"))
    assert "to 'out': micro-batch or real-time mode" in text
    assert "not in real-time mode: sink 'kept' is parquet, which takes whole batches" in text

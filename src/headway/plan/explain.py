"""A flow in words: its steps, the modes that it can run in, what a source without a gate costs."""

from __future__ import annotations

from headway.flow.graph import Flow
from headway.flow.topics import StreamedFrame
from headway.plan.modes import obstacles

NO_GATE = (
    "is a streaming DataFrame: answers are measured and published once, but Spark decides when a "
    "batch begins and how much it takes. No pace can be set while it runs, nothing can be held "
    "back under overload, bad records are what its own reader makes of them, and records that "
    "come too late for their window are dropped by Spark, counted but not kept"
)


def explain(flow: Flow) -> str:
    """The flow in words."""
    parts = [str(flow), ""]
    for sink in flow.sinks:
        part = flow.part_for(sink)
        reasons = obstacles(part)
        parts.append(f"to {sink.name!r}: micro-batch" + ("" if reasons else " or real-time mode"))
        parts += [f"  not in real-time mode: {why}" for why in reasons]
    for source in flow.sources:
        if isinstance(source.topic, StreamedFrame):
            parts.append(f"source {source.name!r} {NO_GATE}")
            if source.topic.arrival is None:
                parts.append(
                    f"source {source.name!r} does not tell when records arrived: latency counts "
                    "from the start of a batch; name a column with arrival=..."
                )
    return "\n".join(parts)

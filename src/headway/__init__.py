"""headway: Spark that answers on time. State a streaming query and when its answer is due."""

from headway.errors import HeadwayError
from headway.flow.goals import Goal
from headway.flow.graph import Flow, join
from headway.flow.pairs import Pair, WindowPair
from headway.flow.sources import replay, spool
from headway.flow.topics import EventTime

__all__ = [
    "EventTime",
    "Flow",
    "Goal",
    "HeadwayError",
    "Pair",
    "WindowPair",
    "join",
    "replay",
    "spool",
]

"""headway: Spark that answers on time. State a streaming query and when its answer is due."""

from headway.engine.spark.run import run
from headway.engine.spark.settings import Settings
from headway.engine.topics.spool import Spool
from headway.errors import HeadwayError
from headway.flow.goals import Goal
from headway.flow.graph import Flow, join
from headway.flow.pairs import Pair, WindowPair
from headway.flow.sources import replay, spool
from headway.flow.topics import EventTime
from headway.keep.pacing import Pace

__all__ = [
    "EventTime",
    "Flow",
    "Goal",
    "HeadwayError",
    "Pace",
    "Pair",
    "Settings",
    "Spool",
    "WindowPair",
    "join",
    "replay",
    "run",
    "spool",
]

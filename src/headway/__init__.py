"""headway: Spark that answers on time, over streams by a goal and over stored data early."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.engine.early.ask import ask as ask
    from headway.engine.early.ask import progress as progress
    from headway.engine.kafka.distributor import Distributor as Distributor
    from headway.engine.spark.frames.watch import watch as watch
    from headway.engine.spark.run import run as run
    from headway.engine.spark.settings import Settings as Settings
    from headway.engine.topics.spool import Spool as Spool
    from headway.flow.graph import Flow as Flow
    from headway.flow.pairs import Pair as Pair
    from headway.flow.pairs import WindowPair as WindowPair
    from headway.flow.sources import replay as replay
    from headway.flow.sources import spool as spool
    from headway.flow.sources import stream as stream
    from headway.flow.sources import topic as topic
    from headway.keep.pacing import Pace as Pace

# Opened when first used: Spark starts many Python processes, and each imports only what it needs.
DOORS = {
    "Distributor": "headway.engine.kafka.distributor",
    "Flow": "headway.flow.graph",
    "Pace": "headway.keep.pacing",
    "Pair": "headway.flow.pairs",
    "Settings": "headway.engine.spark.settings",
    "Spool": "headway.engine.topics.spool",
    "WindowPair": "headway.flow.pairs",
    "ask": "headway.engine.early.ask",
    "progress": "headway.engine.early.ask",
    "replay": "headway.flow.sources",
    "run": "headway.engine.spark.run",
    "spool": "headway.flow.sources",
    "stream": "headway.flow.sources",
    "topic": "headway.flow.sources",
    "watch": "headway.engine.spark.frames.watch",
}

__all__ = list(DOORS)  # noqa: PLE0605, RUF100


def __dir__() -> list[str]:
    return sorted([*globals(), *DOORS])


def __getattr__(name: str) -> Any:
    if name not in DOORS:
        raise AttributeError(f"headway has no {name!r}; it has {', '.join(DOORS)}")
    return getattr(import_module(DOORS[name]), name)

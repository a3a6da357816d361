"""How a run is set up: one value, each field with its unit and what it does."""

from __future__ import annotations

from dataclasses import dataclass, field

from headway.flow.stream import check_kafka
from headway.keep.pacing import Pace
from headway.measure.costs.stores import Store
from headway.plan.modes import Mode, RealTime, check_mode
from headway.plan.stores import check_store


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything about a run that is not the flow itself.

    master     which Spark: 'local[2]', 'spark://host:7077'; unused when a session is given
    pace       when batches start and how much they take; may change while the flow runs
    store      'rocksdb' or 'memory', where states rest for the life of a checkpoint; None: planned
    buckets    into how many buckets a Python pair's keys are hashed; fixed for the life of a run
    mode       'micro-batch', or 'real-time' for milliseconds where a flow suits it
    real_time  what batches records in real-time mode
    phases     whether it is told where time went; without it real-time mode tells no latency
    keeping    with a goal: 'active' plans and changes the run, 'passive' only says so, or 'off'
    quarantine    'kafka://host:port/topic' is told what is set aside, too; None: the folder only
    metrics_port  where Prometheus finds the run's figures (0: any free port); None serves none
    until      'end' stops when all is read (Kafka's topics have no end); 'stopped' runs on
    spark      more settings for a session that headway opens itself
    """

    master: str = "local[*]"
    pace: Pace = field(default_factory=Pace)
    store: Store | None = None
    buckets: int = 16
    mode: Mode = "micro-batch"
    real_time: RealTime = field(default_factory=RealTime)
    phases: bool = True
    keeping: str = "active"
    quarantine: str | None = None
    metrics_port: int | None = None
    until: str = "end"
    spark: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.buckets < 1:
            raise ValueError(f"a pair needs at least one bucket; got {self.buckets}")
        check_mode(self.mode)
        check_store(self.store)
        if self.keeping not in ("active", "passive", "off"):
            raise ValueError(f"keeping is 'active', 'passive' or 'off'; got {self.keeping!r}")
        if self.quarantine is not None:
            check_kafka(self.quarantine)
        if self.until not in ("end", "stopped"):
            raise ValueError(f"until must be 'end' or 'stopped'; got {self.until!r}")

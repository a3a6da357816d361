"""One way to run a flow, and the load that it would be under: what a prediction is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headway.measure.costs.lanes import Lanes
from headway.measure.costs.stores import STORE_NAMES, Store


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setting of everything that can be planned (paper 1, table 1).

    mode            'micro-batch' or 'real-time'
    nodes           how many machines
    cores           of each machine
    mappers         tasks that read and map, on all nodes together
    reducers        tasks that reduce, on all nodes together
    interval_s      micro-batch: time between the starts of two batches
    checkpoint_s    real-time: time between two checkpoints
    store           micro-batch: where the states rest for the life of a checkpoint; None where
                    there are none, or nothing is known of it, and in real-time mode: in RocksDB
    shuffle_wait_s  real-time: how long a record may wait for others on its way to the reducer
    fetch_wait_s    real-time: how long Kafka may keep back a fetch that brings nothing
    """

    mode: Literal["micro-batch", "real-time"]
    nodes: int = 1
    cores: int = 1
    mappers: int = 1
    reducers: int = 1
    interval_s: float = 0.5
    checkpoint_s: float = 60.0
    shuffle_wait_s: float = 0.001
    fetch_wait_s: float = 0.5
    store: Store | None = None

    @property
    def lanes(self) -> Lanes:
        """How many tasks run side by side."""
        return Lanes(self.nodes * self.cores, self.reducers)

    def __str__(self) -> str:
        where = f"{self.nodes} x {self.cores} cores, {self.mappers} map, {self.reducers} reduce"
        if self.mode == "micro-batch":
            every = f"every {self.interval_s:g} s" if self.interval_s else "one after another"
            rest = f", states in {STORE_NAMES[self.store]}" if self.store else ""
            return f"micro-batch {every}, {where}{rest}"
        return (
            f"real-time mode, checkpoint every {self.checkpoint_s:g} s, shuffle wait "
            f"{self.shuffle_wait_s * 1e3:g} ms, {where}"
        )


@dataclass(frozen=True, slots=True)
class Load:
    """How records come.

    rate_per_s  records a second
    variation   squared coefficient of variation of the times between them: 0 a clock, 1 Poisson
    lateness_s  how long a window waits for stragglers before it is final
    """

    rate_per_s: float
    variation: float = 1.0
    lateness_s: float = 0.0

"""Profiles of jobs that never ran, with costs that are known."""

from __future__ import annotations

from dataclasses import replace

from headway.measure.costs.batches import BatchCosts
from headway.measure.costs.fits import Fit, Growth
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stores import Store, Stores
from headway.measure.costs.stretches import StreamCosts, Stretch
from headway.model.prediction import RANKS

LANES = Lanes(cores=2, reducers=2)


def line(fixed: float, each: float) -> Fit:
    return Fit().seen(0.0, fixed, 1.0).seen(1e6, fixed + each * 1e6, 1.0)


def batch_costs(ratios: tuple[float, ...] = (1.0,) * 32, after_s: float = 0.02) -> BatchCosts:
    """0.2 s fixed, 2 us a record mapped by one task, 5 us a key reduced by one; 1,000 keys."""
    keys = Growth().seen(1_000, 1_000).seen(2_000, 1_000).seen(1_000_000, 1_000)
    return BatchCosts(
        100,
        1_000_000,
        {
            "planning": line(0.05, 0.0), "map": line(0.1, 2e-6),
            "reduce": line(0.03, 5e-6), "publish": line(0.02, 0.0),
        },
        keys=keys, answers=keys, after_s=line(after_s, 0.0), task_s=line(0.1, 4e-6), ratios=ratios,
        largest=2.0**20,
    )  # fmt: skip


def stretch(rate_per_s: float, pause_s: float = 0.4) -> Stretch:
    """10 ms in all, half of it on the way to the reducer, with a tail of four times the mean."""
    means = {"fetch": 0.002, "map": 0.001, "shuffle": 0.005, "publish": 0.002, "unexplained": 0.0}
    shape = [1.0 if rank < 0.98 else 4.0 for rank in RANKS]
    steps = {name: tuple(mean * times for times in shape) for name, mean in means.items()}
    return Stretch(
        rate_per_s, 60.0, means, steps, pause_s, map_cpu_s=20e-6, reduce_cpu_s=30e-6,
        shuffle_wait_s=0.001, mappers=1,
    )  # fmt: skip


def profile() -> JobProfile:
    streams = StreamCosts(tuple(stretch(rate) for rate in (500.0, 1_000.0, 2_000.0)), 200_000)
    return JobProfile("f", Lanes(cores=2, reducers=1), batch_costs(), streams)


def stored(per_doubling: float = 1.0, heap_bytes: float = 1e9) -> JobProfile:
    """The same with states in either store: in memory a key costs 1 us, and nothing is fixed.

    States took 8 MB after a million records, so many times as much as after half as many.
    """
    costs = batch_costs()
    rocks = {"reduce": costs.phases_s["reduce"]}
    heap = {"reduce": line(0.0, 1e-6)}
    fits: dict[Store, dict[str, Fit]] = {}
    known: dict[Store, dict[str, Fit]] = {"rocksdb": rocks, "memory": heap}
    for store, own in known.items():
        fits[store] = {name: fit.together(fit.faded(4.0)) for name, fit in own.items()}
    held = Growth().seen(2.0**19, 8e6 / per_doubling).seen(2.0**20, 8e6)
    return replace(profile(), batch=replace(costs, kept_s=Stores(fits, held, heap_bytes)))

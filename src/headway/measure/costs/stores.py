"""What the phases that touch the states cost, by the store that the states rest in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from headway.measure.costs.fits import Fit, Growth, Line
from headway.measure.costs.readers import ENOUGH, fits_together, fits_with, kept_fits, read_fits

Store = Literal["rocksdb", "memory"]
STORES: tuple[Store, ...] = get_args(Store)
STORE_NAMES: Mapping[Store | None, str] = {"rocksdb": "RocksDB", "memory": "memory"}
BY_STORE = ("reduce", "state")  # phases in which states are read, changed and kept


@dataclass(frozen=True, slots=True)
class Stores:
    """The fits of each phase that touches states, and of what tasks spend, by the store.

    The paper's reducers keep states in memory, and in a key-value store where that is not enough
    (paper 1, section 2.2), so that an update costs one of two times (section 4). In Spark one store
    holds all states of a query for as long as its checkpoint lives.

    held_bytes  heap that states in memory take, over the records whose states may be there
    living      records whose states are there at a time, where windows close, at the highest rate
                that was seen; 0 where states stay, and all records since the run began count
    heap_bytes  the heap of all that run tasks; 0: not known
    """

    fits: Mapping[Store, Mapping[str, Fit]] = field(default_factory=dict)
    held_bytes: Growth = field(default_factory=Growth)
    heap_bytes: float = 0.0
    living: float = 0.0

    def seen(
        self, store: Store | None, points: Mapping[str, tuple[float, float]], fade: float
    ) -> Stores:
        """The same with one more point of each phase while the states rested in a store."""
        if store is None:
            return self
        own = self.fits.get(store, {})
        return replace(self, fits={**self.fits, store: {**own, **fits_with(own, points, fade)}})

    def holding(
        self, records: float, living: float, held_bytes: float, heap_bytes: float
    ) -> Stores:
        """The same with what states in memory took after so many records; that is not forgotten.

        Of these so many have states that may live still; 0 where that is all of them, or where a
        batch had too few records to tell.
        """
        there = min(records, living or self.living or records)
        return replace(
            self,
            held_bytes=self.held_bytes.seen(there, held_bytes),
            heap_bytes=heap_bytes or self.heap_bytes,
            living=max(self.living, living),
        )

    @property
    def known(self) -> tuple[Store, ...]:
        """The stores that were seen often enough."""
        return tuple(
            store
            for store in STORES
            if any(fit.points >= ENOUGH for fit in self.fits.get(store, {}).values())
        )

    def line(self, phase: str, store: Store | None) -> Line | None:
        """What a phase costs while the states rest in a store; None where it was hardly seen."""
        fit = self.fits.get(store, {}).get(phase, Fit()) if store else Fit()
        return fit.at_least(0.0) if fit.points >= ENOUGH else None

    def together(self, newer: Stores, keep: float) -> Stores:
        """Both as one, this one remembered only by the share `keep`, where both know something."""
        both = {
            store: fits_together(self.fits.get(store, {}), newer.fits[store], keep)
            for store in newer.fits
        }
        held = self.held_bytes.together(newer.held_bytes, keep)
        heap_bytes = newer.heap_bytes or self.heap_bytes
        return Stores({**self.fits, **both}, held, heap_bytes, max(self.living, newer.living))

    def filled_by(self, other: Stores) -> Stores:
        """These, with the stores that they say nothing about."""
        fits = {**other.fits, **{store: self.fits[store] for store in self.known}}
        held = self.held_bytes if self.held_bytes.steps else other.held_bytes
        living = self.living if self.held_bytes.steps else other.living
        return Stores(fits, held, self.heap_bytes or other.heap_bytes, living)

    def as_dict(self) -> dict[str, Any]:
        """The sums by name."""
        return {
            "fits": {store: kept_fits(fits) for store, fits in self.fits.items()},
            "held_bytes": self.held_bytes.as_lists(),
            "heap_bytes": self.heap_bytes,
            "living": self.living,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Stores:
        """Read what was kept."""
        fits: dict[Store, Mapping[str, Fit]] = {
            store: read_fits(kept["fits"][store]) for store in STORES if store in kept["fits"]
        }
        held = Growth.from_lists(kept["held_bytes"])
        return cls(fits, held, float(kept["heap_bytes"]), float(kept["living"]))

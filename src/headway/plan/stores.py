"""Which stores a plan may let the states rest in: what is known, what fits, what is fixed."""

from __future__ import annotations

from headway.errors import RunError
from headway.measure.costs.stores import STORE_NAMES, STORES, Store, Stores
from headway.plan.modes import Mode

# States in memory are more with each new key, and cannot move to disk later: so a plan looks far
# ahead. States of windows that close are more only where records come faster. Spark needs most of
# the heap itself.
AHEAD = 1_000.0  # times as many records as were seen, by when states must still fit
FASTER = 8.0  # times the highest rate that was seen, at which states of open windows must fit
HEAP_SHARE = 0.1  # of the heap, which they may take then


def check_store(store: Store | None) -> None:
    """Refuse a word that is no store."""
    if store is not None and store not in STORES:
        raise ValueError(f"store must be {' or '.join(map(repr, STORES))}; got {store!r}")


def check_mode_reads(mode: Mode, store: Store | None) -> None:
    """Refuse real-time mode where it could not read the states."""
    if mode == "real-time" and store == "memory":
        raise RunError(
            "the states of this run rest in memory, and real-time mode reads them from RocksDB "
            "only; a checkpoint keeps the store that it was begun with. Stay in micro-batch, or "
            "begin anew in another folder with Settings(store='rocksdb')"
        )


def why_not_in_memory(costs: Stores) -> str | None:
    """Why states should not rest in memory: they may not fit; None where they do."""
    if not costs.held_bytes.steps or not costs.heap_bytes:
        return "how much of the heap they take is not known"
    will, limit = costs.held_bytes.at(most_records(costs)), HEAP_SHARE * costs.heap_bytes
    if will <= limit:
        return None
    return (
        f"they {growth_text(costs)}, more than {HEAP_SHARE:.0%} of a heap of "
        f"{bytes_text(costs.heap_bytes)}"
    )


def most_records(costs: Stores) -> float:
    """Records whose states must fit: all that will ever come, or as many as windows have open."""
    ever = costs.held_bytes.largest * AHEAD
    return min(ever, costs.living * FASTER) if costs.living else ever


def growth_text(costs: Stores) -> str:
    """What states were seen to take, and what they would."""
    seen, then = costs.held_bytes.largest, most_records(costs)
    of = "of {:,.0f} records in open windows" if costs.living else "after {:,.0f} records"
    took, will = (bytes_text(costs.held_bytes.at(count)) for count in (seen, then))
    return f"took {took} {of.format(seen)}, and as they grow would take {will} {of.format(then)}"


def choose_stores(
    costs: Stores, begun: Store | None
) -> tuple[tuple[Store | None, ...], tuple[str, ...]]:
    """The stores that a plan may choose from, and why others are left out.

    A checkpoint keeps the store that it was `begun` with. Where no store was seen, the flow holds
    no states, or nobody has told: then there is nothing to choose. Where states may rest in none
    of those that were seen, RocksDB is there for states of any size.
    """
    if begun is not None:
        return (begun,), ()
    known = costs.known
    if not known:
        return (None,), ()
    reasons: dict[Store, str] = {
        store: "what that costs is not known; `headway profile` tries it"
        for store in STORES
        if store not in known
    }
    if "memory" in known and (why := why_not_in_memory(costs)) is not None:
        reasons["memory"] = why
        reasons.pop("rocksdb", None)
    left_out = tuple(
        f"states in {STORE_NAMES[store]} are not considered: {why}"
        for store, why in reasons.items()
    )
    return tuple(store for store in STORES if store not in reasons), left_out


def memory_text(costs: Stores) -> str:
    """What states in memory take, for whoever wants to know why they may rest there."""
    if not costs.held_bytes.largest:
        return "what states in memory take of the heap is not known yet"
    return (
        f"states in memory {growth_text(costs)}; "
        f"{bytes_text(HEAP_SHARE * costs.heap_bytes)}, {HEAP_SHARE:.0%} of the heap, are allowed"
    )


def bytes_text(count: float) -> str:
    """A number of bytes for a sentence.

    >>> bytes_text(1_530_000.0), bytes_text(2e9)
    ('1.5 MB', '2,000.0 MB')
    """
    return f"{count / 1e6:,.1f} MB"

"""The reduce side of a pair: the states of a bucket of keys, and the loop that updates them."""

from __future__ import annotations

import copy
import pickle
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from headway.engine.pairs.failures import Failures
from headway.engine.pairs.unpack import pack_answers
from headway.flow.pairs import Pair, WindowPair
from headway.flow.steps import PairStep

Held = tuple[int, bytes]  # a token that names this very version, and the states
UNCHANGING = (int, float, str, bytes, bool, type(None))


class PackedRow(Protocol):
    """One row of what the map side packed."""

    first: int
    closed_us: Any
    records: bytes | None


@dataclass(slots=True)
class Incoming:
    """The records of one bucket in one batch, in the order in which they arrived."""

    orders: list[tuple[int, int]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    closed_us: int | None = None


def unpack_incoming(rows: Iterable[PackedRow]) -> Incoming:
    """Unpack parcels and put their records in order of arrival, ties by place in the topic."""
    incoming = Incoming()
    for row in rows:
        if row.closed_us is not None and row.closed_us == row.closed_us:
            incoming.closed_us = int(row.closed_us)
        if row.records is None:
            continue
        orders, times, keys, values = pickle.loads(row.records)
        incoming.orders += orders
        incoming.times += times
        incoming.keys += keys
        incoming.values += values
    orders = incoming.orders
    if any(orders[n] > orders[n + 1] for n in range(len(orders) - 1)):
        places = sorted(range(len(orders)), key=orders.__getitem__)
        incoming.orders = [orders[n] for n in places]
        incoming.times = [incoming.times[n] for n in places]
        incoming.keys = [incoming.keys[n] for n in places]
        incoming.values = [incoming.values[n] for n in places]
    return incoming


class BucketStates:
    """The states of the buckets that this Python worker has seen lately.

    Spark's state store holds the truth. A bucket's states are kept here too, and trusted only if
    the store names the very version that they are; a batch that fails leaves no trace here.
    """

    def __init__(self, step: PairStep, quarantine: Path) -> None:
        self._step = step
        self._failures = Failures(step, quarantine)
        self._cache: dict[int, tuple[int, dict[Any, Any]]] = {}

    def update(
        self, bucket: int, rows: Sequence[PackedRow], held: Held | None
    ) -> tuple[Held, bytes | None]:
        """Update one bucket; return what the state store shall hold, and the answers."""
        states = self._states(bucket, held)
        incoming = unpack_incoming(rows)
        emitted: list[tuple[float, Any, Any]] = []
        if isinstance(self._step.pair, WindowPair):
            self._update_windows(self._step.pair, incoming, states, emitted)
        else:
            assert isinstance(self._step.pair, Pair)
            self._update_keys(self._step.pair, incoming, states, emitted)
        token = secrets.randbits(63)
        kept = (token, pickle.dumps(states, protocol=pickle.HIGHEST_PROTOCOL))
        self._cache[bucket] = (token, states)
        return kept, pack_answers(self._step.pair, emitted)

    def _states(self, bucket: int, held: Held | None) -> dict[Any, Any]:
        # Taken out of the cache for as long as it is being changed.
        token, states = self._cache.pop(bucket, (None, None))
        if held is None:
            return {}
        if states is not None and token == held[0]:
            return states
        found: dict[Any, Any] = pickle.loads(held[1])
        return found

    def _update_keys(
        self, pair: Pair, incoming: Incoming, states: dict[Any, Any], emitted: list[Any]
    ) -> None:
        if self._step.on_error == "stop" and (batched := getattr(pair, "update_batch", None)):
            emitted += self._batched(batched, incoming, states)
            return
        update, init = pair.update, pair.init
        careful = self._step.on_error == "quarantine"
        place = -1
        try_again = True
        records = zip(incoming.times, incoming.keys, incoming.values, strict=True)
        while try_again:
            try_again = False
            try:
                for time, key, value in records:
                    place += 1
                    state = states[key] if key in states else init(key)
                    if careful and not isinstance(state, UNCHANGING):
                        state = copy.deepcopy(state)
                    state, out = update(time, key, value, state)
                    if out:
                        emitted += list(out) if careful else out
                    states[key] = state
            except Exception:
                # One handler around the loop, not one in it: the loop is what pairs cost.
                self._fail("update", place, incoming)
                try_again = True

    def _fail(self, method: str, place: int, incoming: Incoming) -> None:
        seq = incoming.orders[place][1]
        self._failures.handle(method, seq, incoming.keys[place], incoming.values[place])

    def _batched(
        self, update_batch: Callable[..., Any], incoming: Incoming, states: dict[Any, Any]
    ) -> Iterable[Any]:
        try:
            out = update_batch(incoming.times, incoming.keys, incoming.values, states)
            return list(out or ())
        except Exception:
            shown = f"{len(incoming.keys)} records"
            self._failures.handle("update_batch", 0, incoming.keys[:3], shown)
            return ()

    def _update_windows(
        self, pair: WindowPair, incoming: Incoming, states: dict[Any, Any], emitted: list[Any]
    ) -> None:
        window = self._step.window
        assert window is not None
        closed_us = incoming.closed_us or 0
        careful = self._step.on_error == "quarantine"
        for place, (time, key, value) in enumerate(
            zip(incoming.times, incoming.keys, incoming.values, strict=True)
        ):
            ends = [end for end in window.ends_of(round(time * 1e6)) if end > closed_us]
            try:
                fresh = self._windows_after(pair, (time, key, value), ends, states, careful)
            except Exception:
                self._fail("update", place, incoming)
                continue
            states.update(fresh)
        closing = sorted((at for at in states if at[0] <= closed_us), key=lambda at: at[0])
        for end, key in closing:
            state = states.pop((end, key))
            try:
                emitted += pair.finalize(key, end / 1e6, state)
            except Exception:
                self._failures.handle("finalize", end, key, state)

    def _windows_after(
        self,
        pair: WindowPair,
        record: tuple[float, Any, Any],
        ends: list[int],
        states: dict[Any, Any],
        careful: bool,
    ) -> dict[tuple[int, Any], Any]:
        # All windows of a record or none: a record that fails must not stay in some of them.
        time, key, value = record
        fresh = {}
        for end in ends:
            at = (end, key)
            state = states[at] if at in states else pair.init(key, end / 1e6)
            if careful and not isinstance(state, UNCHANGING):
                state = copy.deepcopy(state)
            fresh[at] = pair.update(time, key, end / 1e6, value, state)
        return fresh

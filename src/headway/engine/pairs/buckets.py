"""The reduce side of a pair: the states of a bucket of keys, and the loop that updates them."""

from __future__ import annotations

import copy
import gc
import pickle
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway.engine.pairs.failures import Failures
from headway.engine.pairs.packing import maps
from headway.engine.pairs.parcels import NAN, Incoming, PackedRow, unpack
from headway.engine.pairs.unpack import answers_batch, pack_answers
from headway.flow.pairs import BasePair, Pair, WindowPair
from headway.flow.steps import PairStep

Held = tuple[int, bytes]  # a token that names this very version, and the states
UNCHANGING = (int, float, str, bytes, bool, type(None))


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python from looking for cycles: it would walk all records and answers again and again.

    What a batch made is freed by its reference counts; cycles wait until the block is left.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class BucketStates:
    """The states of the buckets that this Python worker has seen lately.

    Spark's state store holds the truth. A bucket's states are kept here too, and trusted only if
    the store names the very version that they are; a batch that fails leaves no trace here.
    """

    def __init__(self, step: PairStep, quarantine: Path) -> None:
        self._step = step
        self._mapped = maps(step)
        self._careful = step.on_error == "quarantine"
        self._failures = Failures(step, quarantine)
        self._cache: dict[int, tuple[int, dict[Any, Any]]] = {}

    def update(
        self, bucket: int, rows: Sequence[PackedRow], held: Held | None
    ) -> tuple[Held, bytes | None]:
        """Update one bucket; return what the state store shall hold, and the answers."""
        with no_collection():
            return self._update(bucket, rows, held)

    def _update(
        self, bucket: int, rows: Sequence[PackedRow], held: Held | None
    ) -> tuple[Held, bytes | None]:
        states = self._states(bucket, held)
        incoming = unpack(rows, self._mapped, self._step.key)
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
        return {one_key(at): found[at] for at in found} if any(map(holds_nan, found)) else found

    def _update_keys(
        self, pair: Pair, incoming: Incoming, states: dict[Any, Any], emitted: list[Any]
    ) -> None:
        if not self._careful and (batched := getattr(pair, "update_batch", None)):
            emitted += self._batched(batched, incoming, states)
            return
        update_each = self._update_carefully if self._careful else self._update_fast
        update_each(pair, incoming, states, emitted)

    def _update_fast(
        self, pair: Pair, incoming: Incoming, states: dict[Any, Any], emitted: list[Any]
    ) -> None:
        # The loop is what pairs cost; the first failure ends the run, so nothing is kept safe.
        update, init = pair.update, pair.init
        places = iter(range(len(incoming.keys)))
        try:
            for _, time, key, value in zip(
                places, incoming.times, incoming.keys, incoming.values, strict=True
            ):
                state = states[key] if key in states else init(key)
                states[key], out = update(time, key, value, state)
                if out:
                    emitted += out
        except Exception:
            self._fail("update", next(places, len(incoming.keys)) - 1, incoming)

    def _update_carefully(
        self, pair: Pair, incoming: Incoming, states: dict[Any, Any], emitted: list[Any]
    ) -> None:
        # A record that fails leaves neither a state half changed nor some of its answers.
        records = zip(incoming.times, incoming.keys, incoming.values, strict=True)
        for place, (time, key, value) in enumerate(records):
            try:
                state = states[key] if key in states else pair.init(key)
                if not isinstance(state, UNCHANGING):
                    state = copy.deepcopy(state)
                state, out = pair.update(time, key, value, state)
                told = checked(pair, out)
            except Exception:
                self._fail("update", place, incoming)
                continue
            states[key] = state
            emitted += told

    def _fail(self, method: str, place: int, incoming: Incoming) -> None:
        seq = int(incoming.seqs[place])
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
        for place, (time, key, value) in enumerate(
            zip(incoming.times, incoming.keys, incoming.values, strict=True)
        ):
            ends = [end for end in window.ends_of(round(time * 1e6)) if end > closed_us]
            try:
                fresh = self._windows_after(pair, (time, key, value), ends, states)
            except Exception:
                self._fail("update", place, incoming)
                continue
            states.update(fresh)
        closing = sorted((at for at in states if at[0] <= closed_us), key=lambda at: at[0])
        for end, key in closing:
            state = states.pop((end, key))
            try:
                emitted += checked(pair, pair.finalize(key, end / 1e6, state))
            except Exception:
                self._failures.handle("finalize", end, key, state)

    def _windows_after(
        self,
        pair: WindowPair,
        record: tuple[float, Any, Any],
        ends: list[int],
        states: dict[Any, Any],
    ) -> dict[tuple[int, Any], Any]:
        # All windows of a record or none: a record that fails must not stay in some of them.
        time, key, value = record
        fresh = {}
        for end in ends:
            at = (end, key)
            state = states[at] if at in states else pair.init(key, end / 1e6)
            if self._careful and not isinstance(state, UNCHANGING):
                state = copy.deepcopy(state)
            fresh[at] = pair.update(time, key, end / 1e6, value, state)
        return fresh


def holds_nan(key: Any) -> bool:
    """Whether a key is or holds what is no number."""
    if type(key) is tuple:
        return any(part != part for part in key)
    return bool(key != key)


def one_key(key: Any) -> Any:
    """A key out of the store, where what is no number must be the object that records have."""
    if isinstance(key, tuple):
        return tuple(map(one_key, key))
    return NAN if key != key else key


def checked(pair: BasePair, told: Iterable[tuple[float, Any, Any]] | None) -> list[Any]:
    """What a pair emitted, all of it and of the declared types, or the error that it deserves."""
    found = list(told or ())
    if found:
        answers_batch(pair, found)
    return found

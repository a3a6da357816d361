"""The smallest engine that runs a pair: a loop over records and a dictionary of states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headway.flow.pairs import Pair, WindowPair
from headway.flow.windows import Window

Record = tuple[float, dict[str, Any]]
Answer = tuple[float, Any, Any]


def run_pair(pair: Pair, records: Iterable[Record]) -> tuple[list[Answer], dict[Any, Any]]:
    """The answers in the order they were emitted, and the states at the end."""
    answers: list[Answer] = []
    states: dict[Any, Any] = {}
    for time, value in records:
        for mapped_time, key, mapped in pair.map(time, None, value):
            state = states[key] if key in states else pair.init(key)
            states[key], emitted = pair.update(mapped_time, key, mapped, state)
            answers.extend(emitted)
    return answers, states


def run_window_pair(pair: WindowPair, records: Iterable[Record], window: Window) -> list[Answer]:
    """The answers of every window, by window and key, as if all closed at the end."""
    states: dict[tuple[float, Any], Any] = {}
    for time, value in records:
        for mapped_time, key, mapped in pair.map(time, None, value):
            for end_us in window.ends_of(round(mapped_time * 1e6)):
                wtime = end_us / 1e6
                place = (wtime, key)
                state = states[place] if place in states else pair.init(key, wtime)
                states[place] = pair.update(mapped_time, key, wtime, mapped, state)
    return [
        answer
        for (wtime, key), state in sorted(states.items())
        for answer in pair.finalize(key, wtime, state)
    ]

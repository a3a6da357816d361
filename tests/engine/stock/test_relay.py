"""Contestants take turns, whoever arrives first and whoever leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable

from headway.engine.stock.relay import Relay

PATIENCE_S = 20.0


def run_all(relay: Relay, bodies: dict[str, Callable[[str], None]]) -> None:
    def take_part(name: str) -> None:
        try:
            bodies[name](name)
        finally:
            relay.leave(name)

    threads = [threading.Thread(target=take_part, args=(name,), daemon=True) for name in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)


def turns(relay: Relay, told: list[str], count: int) -> Callable[[str], None]:
    def work(name: str) -> None:
        for _ in range(count):
            relay.hand_on(name)
            told.append(name)

    return work


def test_each_follows_every_other_as_often() -> None:
    relay, told = Relay(["a", "b", "c"]), []
    run_all(relay, {name: turns(relay, told, 4) for name in ("c", "b", "a")})
    assert told == ["a", "b", "c", "a", "c", "b"] * 2


def test_those_who_leave_early_are_not_waited_for() -> None:
    relay, told = Relay(["a", "b"]), []
    run_all(relay, {"a": turns(relay, told, 1), "b": turns(relay, told, 4)})
    assert told[:2] == ["a", "b"]
    assert told.count("b") == 4


def test_one_that_never_arrives_does_not_hold_up_the_others_once_it_has_left() -> None:
    relay, told = Relay(["a", "b"]), []
    run_all(relay, {"a": lambda name: None, "b": turns(relay, told, 3)})
    assert told == ["b", "b", "b"]

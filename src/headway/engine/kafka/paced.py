"""Messages into a topic at a rate, open-loop: message n is due at n / rate.

A message's arrival is when it was due, however late it is sent: what a slow sender costs counts as
latency, as it would if the messages came from a thousand senders that know nothing of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from headway.clock import Clock
from headway.engine.kafka.distributor import Distributor
from headway.flow.rates import RateSchedule

PAUSE_S = 0.001
# To make a few messages costs as much as to make hundreds: a sender that made those of each
# millisecond by themselves would keep a core busy, and disturb whom it measures.
AHEAD = 250
Message = tuple[bytes | str | None, bytes]  # key and value


@dataclass(frozen=True, slots=True)
class Paced:
    """What is sent, and when.

    messages  makes those of some numbers: from the first, up to and without the last
    schedule  when each is due after `begun_us`
    count     how many in all
    """

    messages: Callable[[int, int], Iterable[Message]]
    schedule: RateSchedule
    count: int
    begun_us: int


def send_paced(
    to: Distributor, what: Paced, clock: Clock, over: Callable[[], bool] = lambda: False
) -> None:
    """Send each message when it is due, until all are sent or it is over."""
    sent, made = 0, made_ahead(what)
    while sent < what.count and not over():
        due = what.schedule.due_by((clock.now_us() - what.begun_us) / 1e6)
        stop = min(what.count if due is None else due, sent + AHEAD, what.count)
        for (key, value), arrival_us in islice(made, stop - sent):
            to.send(value, key=key, arrival_us=arrival_us)
        if stop - sent < AHEAD:
            clock.sleep(PAUSE_S)
        sent = stop


def made_ahead(what: Paced) -> Iterator[tuple[Message, int]]:
    """The messages, each with when it is due, made some at a time."""
    for first in range(0, what.count, AHEAD):
        stop = min(first + AHEAD, what.count)
        arrivals_us = (what.begun_us + what.schedule.due_us(first, stop)).tolist()
        yield from zip(what.messages(first, stop), arrivals_us, strict=True)

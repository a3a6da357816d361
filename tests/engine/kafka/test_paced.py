"""Messages are sent when they are due, stamped so, and made some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headway.engine.kafka.paced import AHEAD, Message, Paced, send_paced
from headway.flow.rates import parse_rate
from tests.waiting import HandClock


class Noted:
    """Notes what is sent, and when."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        self.sent: list[tuple[bytes, int, int]] = []

    def send(self, record: bytes, *, key: str | None, arrival_us: int) -> None:
        assert key is None
        self.sent.append((record, arrival_us, self._clock.now_us()))


def pace(rate: float | None, count: int) -> tuple[Noted, list[tuple[int, int]], int]:
    clock, asked = HandClock(), list[tuple[int, int]]()
    begun_us = clock.now_us()

    def messages(first: int, stop: int) -> Iterator[Message]:
        asked.append((first, stop))
        return ((None, str(number).encode()) for number in range(first, stop))

    to: Any = Noted(clock)
    send_paced(to, Paced(messages, parse_rate(rate), count, begun_us), clock)
    return to, asked, begun_us


def test_each_is_sent_once_in_order_and_soon_after_it_is_due() -> None:
    to, _, begun_us = pace(2_000.0, 3 * AHEAD + 7)
    assert [int(value) for value, _, _ in to.sent] == list(range(3 * AHEAD + 7))
    for number, (_, arrival_us, at_us) in enumerate(to.sent):
        assert arrival_us == begun_us + number * 500
        assert 0 <= at_us - arrival_us <= 1_000


def test_they_are_made_some_at_a_time_however_few_are_due() -> None:
    _, asked, _ = pace(2_000.0, AHEAD + 1)
    assert asked == [(0, AHEAD), (AHEAD, AHEAD + 1)]


def test_what_is_due_at_once_is_sent_without_a_pause() -> None:
    to, _, begun_us = pace(None, 4 * AHEAD)
    assert {at_us for _, _, at_us in to.sent} == {begun_us}
    assert len(to.sent) == 4 * AHEAD

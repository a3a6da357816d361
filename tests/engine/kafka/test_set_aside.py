"""The quarantine's topic: told once, and no run waits long for a broker that is away."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.clock import SystemClock
from headway.engine.kafka import set_aside as telling
from headway.engine.kafka.set_aside import QuarantineTopic
from headway.engine.topics.port import Slice
from headway.engine.topics.quarantine import Quarantined, set_aside
from headway.testing.broker import Broker, messages_in
from tests.waiting import until

CLOCK = SystemClock()


def keep(folder: Path, first: int) -> None:
    """Two records of a slice that could not be read."""
    gone = [Quarantined(first, b"{a", "no JSON"), Quarantined(first + 1, b"{b", "no JSON")]
    set_aside(folder / "counts", "clicks", Slice("0", first, first + 2), "unreadable", gone)


@pytest.mark.usefixtures("broker")  # left out where there is none
@pytest.mark.long
def test_a_broker_that_comes_back_is_told_what_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "PATIENCE_S", 0.5)
    monkeypatch.setattr(telling, "ENDING_S", 3.0)
    with Broker() as other:
        other.create("aside")
        told = QuarantineTopic(tmp_path, f"{other.at}/aside", "run", CLOCK)
        keep(tmp_path, 0)
        until(lambda: len(list(messages_in(f"{other.address}/aside"))) == 2)
        other.kill()
        keep(tmp_path, 2)
        CLOCK.sleep(4.0)  # longer than its patience
        other.start()
        until(lambda: len(list(messages_in(f"{other.address}/aside"))) == 4)
        other.kill()
        keep(tmp_path, 4)
        begun_s = CLOCK.steady_s()
        with pytest.warns(UserWarning, match="not all of the quarantine was told"):
            told.close()
        assert CLOCK.steady_s() - begun_s < 10.0

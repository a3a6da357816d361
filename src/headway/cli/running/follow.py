"""Stay with a run until it ends, its time is up, or somebody stops it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Protocol

from rich.console import Console

from headway.cli.outcome import say
from headway.clock import Clock
from headway.dashboard.live import LiveView, TopAnswers
from headway.errors import HeadwayError
from headway.flow.goals import Goal
from headway.flow.graph import Flow
from headway.measure.account import Account
from headway.measure.batches import BatchLine
from headway.measure.costs.stores import Store
from headway.plan.modes import Mode

LOOK_EVERY_S = 0.5


class Handle(Protocol):
    """A run as a command sees it; the engine's own handle is one."""

    @property
    def folder(self) -> Path:
        """Where the run keeps its log."""
        ...

    @property
    def active(self) -> bool:
        """Whether it still runs."""
        ...

    @property
    def account(self) -> Account:
        """Where every record is."""
        ...

    @property
    def error(self) -> Exception | None:
        """What it failed with."""
        ...

    def lines(self) -> Sequence[BatchLine]:
        """The batches so far."""
        ...

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it ends; False when the time was up first."""
        ...

    def stop(self) -> None:
        """End it; returns when it has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a command asks an engine to run; None leaves the choice to the engine.

    What Spark itself prints goes into the folder `output`, or into the run's own folder.
    """

    flow: Flow
    goal: Goal | None
    folder: Path
    master: str | None = None
    interval_s: float | None = None
    max_rows: int | None = None
    mode: Mode | None = None
    output: Path | None = None
    metrics_port: int | None = None
    checkpoint_s: float | None = None
    store: Store | None = None


Starter = Callable[[Wanted], Handle]


@dataclass(frozen=True, slots=True)
class Watch:
    """How a run is watched: for how long, on which view, with which answers beside the figures."""

    view: LiveView
    clock: Clock
    for_s: float | None = None
    top: Callable[[], TopAnswers | None] = lambda: None


def follow(handle: Handle, watch: Watch) -> None:
    """Show a run until it ends, and end it when its time is up or on Ctrl-C or a request to end."""
    began_s = watch.clock.steady_s()
    try:
        with ended_by_signals(), watch.view:
            while handle.active:
                left_s = LOOK_EVERY_S
                if watch.for_s is not None:
                    left_s = min(left_s, began_s + watch.for_s - watch.clock.steady_s())
                if left_s <= 0:
                    break
                handle.wait(left_s)
                watch.view.show(handle.lines(), watch.top())
    except KeyboardInterrupt:
        say(
            Console(stderr=True),
            f"stopped; to go on where it was, start it again with --folder {handle.folder}",
        )
    except HeadwayError:
        # The handle keeps what the run failed with; it is raised once the report is written.
        if handle.error is None:
            raise
    finally:
        handle.stop()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """A request to end the process counts as Ctrl-C, so that the run ends as it should."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

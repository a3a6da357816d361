"""The control object in the driver: it hands the gate its decisions, one per batch."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headway.clock import Clock
from headway.engine.faults import reached
from headway.engine.spark.gate.channel import Answerer, Ask, Hold, Reply, Take, WhenBegun
from headway.engine.spark.gate.offsets import GateOffset
from headway.engine.topics.port import Position, count_between
from headway.flow.windows import Window
from headway.keep.pacing import THE_END, Admit, Pace, Seen, choose_batch

NEVER_S = -1e9


@dataclass(slots=True)
class SourceView:
    """What the driver knows of one source from the gate's last question."""

    begin: Position
    reach: Position
    finished: bool = False
    last_start_s: float = NEVER_S
    decided: int = 0
    quiet: bool = False  # asked, and had nothing that waited


class Control:
    """Decides for the gates of one query; the pace may be changed at any time, from any thread."""

    def __init__(self, pace: Pace, window: Window | None, clock: Clock) -> None:
        self._pace, self._window, self._clock = pace, window, clock
        self._lock = threading.Lock()
        self._watermark_ms: Callable[[], int] | None = None
        self._t0_us = 0
        self._stopping = False
        self._one_more = False
        self._views: dict[str, SourceView] = {}
        self._marked: set[str] = set()
        self.expected: tuple[str, ...] = ()  # the names of the sources, in flow order
        self.all_read = threading.Event()
        self.idle = threading.Event()  # asked again since it was told to stop: no batch runs
        self._answerer = Answerer(self.answer)
        self.address = self._answerer.address

    @property
    def pace(self) -> Pace:
        """The pace that the next batch will have."""
        return self._pace

    def set_pace(self, **changes: Any) -> Pace:
        """Change the pace from the next batch on."""
        with self._lock:
            self._pace = replace(self._pace, **changes)
            return self._pace

    def attach(self, watermark_ms: Callable[[], int]) -> None:
        """Open the gate: the query runs, and its watermark can be asked for."""
        with self._lock:
            self._t0_us = self._clock.now_us()
            self._watermark_ms = watermark_ms

    def stop(self) -> None:
        """Admit nothing more."""
        self._stopping = True

    def run_once_more(self) -> None:
        """Admit one batch without records, and then nothing more."""
        self._one_more = self._stopping = True

    def close(self) -> None:
        """Hang up."""
        self._answerer.close()

    def view(self, source: str) -> SourceView | None:
        """What is known of one source; None before its gate has asked."""
        with self._lock:
            found = self._views.get(source)
            return replace(found) if found else None

    def reach_of(self, source: str) -> Position | None:
        """How far a source has arrived; None before its gate has asked."""
        found = self.view(source)
        return found.reach if found else None

    def answer(self, message: Any) -> Any:
        """Answer one question of a gate."""
        if isinstance(message, WhenBegun):
            return self._t0_us
        assert isinstance(message, Ask)
        with self._lock:
            return self._decide(message)

    def _decide(self, ask: Ask) -> Reply:
        if self._watermark_ms is None:
            return Hold(0.01)
        start = ask.start
        view = self._views.setdefault(start.source, SourceView(start.decision.begin, ask.reach))
        view.reach = ask.reach
        watermark_ms = max(self._watermark_ms(), start.decision.wm_ms) if self._window else 0
        seen = self._seen(ask, view, watermark_ms)
        view.quiet = not seen.waiting
        view.finished = ask.finished and not seen.windows_to_close and not seen.end_to_mark
        if self.expected and all(
            name in self._views and self._views[name].finished for name in self.expected
        ):
            self.all_read.set()
        if self._one_more:
            self._one_more = False
            return Take(self._end(ask, Admit(0, "open windows to tell"), watermark_ms), 0)
        if self._stopping:
            self.idle.set()
        wanted = choose_batch(seen, self._pace)
        if not isinstance(wanted, Admit):
            return Hold(wanted.ask_again_s)
        reached("asked")
        view.last_start_s = self._clock.steady_s()
        view.decided += 1
        return Take(self._end(ask, wanted, watermark_ms), wanted.max_rows)

    def _seen(self, ask: Ask, view: SourceView, watermark_ms: int) -> Seen:
        decided = ask.start.decision
        closing = self._window is not None and self._window.closes_between(
            decided.wm_ms * 1_000, watermark_ms * 1_000
        )
        unmarked = not decided.ended or (
            len(self.expected) > 1 and ask.start.source not in self._marked
        )
        ending = self._window is not None and ask.finished and unmarked
        return Seen(
            since_last_start_s=self._clock.steady_s() - view.last_start_s,
            waiting=count_between(ask.start.position, ask.reach),
            windows_to_close=closing,
            end_to_mark=ending,
            stopping=self._stopping,
        )

    def _end(self, ask: Ask, wanted: Admit, watermark_ms: int) -> GateOffset:
        marking = wanted.because == THE_END
        if marking:
            self._marked.add(ask.start.source)
        return ask.start.moved(
            ask.start.position,
            at_us=self._clock.now_us(),
            wm_ms=watermark_ms,
            ended=ask.start.decision.ended + marking,
            readers=self._pace.readers or os.cpu_count() or 1,
            interval_us=round(self._pace.interval_s * 1e6),
            max_rows=self._pace.max_rows,
            because=wanted.because,
        )

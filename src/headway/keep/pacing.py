"""When the next batch starts and how much it takes: the decision of the gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How a flow is paced; may change from one batch to the next while the query runs.

    interval_s  time between the starts of two batches; 0 starts the next one at once
    max_rows    the most records that a batch takes; None for all that wait
    readers     how many tasks read a batch; None for as many as there are cores
    """

    interval_s: float = 0.5
    max_rows: int | None = None
    readers: int | None = None

    def __post_init__(self) -> None:
        if self.interval_s < 0:
            raise ValueError(f"the interval must not be negative; got {self.interval_s:g} s")
        if self.max_rows is not None and self.max_rows < 1:
            raise ValueError(f"a batch must take at least one row; got {self.max_rows}")
        if self.readers is not None and self.readers < 1:
            raise ValueError(f"a batch needs at least one reader; got {self.readers}")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the gate sees when Spark asks how far to read."""

    since_last_start_s: float
    waiting: int
    windows_to_close: bool
    end_to_mark: bool
    stopping: bool


@dataclass(frozen=True, slots=True)
class Admit:
    """Instruction: start a batch of up to `max_rows` records. Carries its own reason."""

    max_rows: int | None
    because: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Instruction: offer nothing, and ask again after a while."""

    ask_again_s: float
    because: str


POLL_S = 0.01
THE_END = "the topic has ended"


def choose_batch(seen: Seen, pace: Pace) -> Admit | Wait:
    """Decide whether the next batch starts now, and how many records it takes.

    A batch starts when its interval has passed and there is something to do: records that wait,
    windows that the watermark has passed, or the end of the topic to be marked.

    >>> choose_batch(Seen(0.1, 50, False, False, False), Pace(interval_s=0.5)).ask_again_s
    0.4
    >>> choose_batch(Seen(0.6, 50, False, False, False), Pace(interval_s=0.5, max_rows=20))
    Admit(max_rows=20, because='50 waiting, 20 taken')
    """
    if seen.stopping:
        return Wait(POLL_S, "the run is stopping")
    if seen.since_last_start_s < pace.interval_s:
        left_s = round(pace.interval_s - seen.since_last_start_s, 9)
        return Wait(left_s, "the interval has not passed")
    if seen.waiting:
        taken = seen.waiting if pace.max_rows is None else min(seen.waiting, pace.max_rows)
        return Admit(pace.max_rows, f"{seen.waiting} waiting, {taken} taken")
    if seen.windows_to_close:
        return Admit(0, "windows to close")
    if seen.end_to_mark:
        return Admit(0, THE_END)
    return Wait(POLL_S, "nothing waits")

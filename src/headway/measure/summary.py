"""A whole run in a few figures, from nothing but its log of batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from headway.measure.account import Account
from headway.measure.batches import BatchLine
from headway.measure.latency import QUANTILES, Latency
from headway.measure.moments import Moments
from headway.measure.spent import phases_of


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did, measured after its warm-up; only the account is of the whole run."""

    batches: int
    warmup: int
    records: int
    answers: int
    quarantined: int
    seconds: float
    latency: Latency
    window_latency: Latency
    account: Account
    clock_ahead_s: float = 0.0
    phases: dict[str, Latency] = field(default_factory=dict)  # the time in each
    moments: dict[str, Moments] = field(default_factory=dict)  # of arrivals, and of service

    @property
    def rate_per_s(self) -> float:
        """Records answered per second."""
        return self.records / self.seconds if self.seconds > 0 else 0.0

    @property
    def phases_s(self) -> dict[str, float]:
        """The mean time in each phase."""
        return {name: spent.mean_s for name, spent in self.phases.items()}

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, as commands print them."""
        return {
            "batches": self.batches,
            "warmup_batches": self.warmup,
            "records": self.records,
            "answers": self.answers,
            "quarantined": self.quarantined,
            "seconds": round(self.seconds, 3),
            "rate_per_s": round(self.rate_per_s, 1),
            "latency_s": self.latency.as_dict() if self.latency.count else {},
            "window_latency_s": self.window_latency.as_dict() if self.window_latency.count else {},
            "account": account_dict(self.account),
            "balanced": self.account.balanced,
            "clock_ahead_s": self.clock_ahead_s,
            "phases_s": {name: round(mean, 6) for name, mean in self.phases_s.items()},
            "phases": {name: spent.as_dict() for name, spent in self.phases.items()},
            "moments": {name: found.as_dict() for name, found in self.moments.items()},
        }


def summarise(lines: Sequence[BatchLine], warmup: int = 0) -> RunSummary:
    """Sum a run up; its first `warmup` batches with records count in the account alone.

    Where the run is so short that nothing would be left, nothing is left out, and `warmup` says 0.
    """
    warm, kept = split_warmup(lines, warmup)
    return RunSummary(
        batches=len(kept),
        warmup=len(warm),
        records=sum(line.rows for line in kept),
        answers=sum(line.answers for line in kept),
        quarantined=sum(line.quarantined for line in kept),
        seconds=seconds_of(warm, kept),
        latency=merged(latency_of(line) for line in kept),
        window_latency=merged(latency_from_figures(line.window_latency) for line in kept),
        account=account_of(lines),
        clock_ahead_s=max((line.clock_ahead_s for line in kept), default=0.0),
        phases=phases_of((line.rows, line.phases) for line in kept if line.rows),
        moments=moments_of(kept),
    )


def moments_of(lines: Sequence[BatchLine]) -> dict[str, Moments]:
    """The moments of all batches together, by what they are of."""
    names = dict.fromkeys(name for line in lines for name in line.moments)
    return {
        name: Moments.together(
            Moments.from_dict(line.moments[name]) for line in lines if name in line.moments
        )
        for name in names
    }


def split_warmup(
    lines: Sequence[BatchLine], warmup: int
) -> tuple[list[BatchLine], list[BatchLine]]:
    """The lines up to each query's `warmup`-th batch with records, and the lines after it."""
    seen: dict[str, int] = {}
    warm: list[BatchLine] = []
    kept: list[BatchLine] = []
    for line in lines:
        (warm if seen.get(line.query, 0) < warmup else kept).append(line)
        seen[line.query] = seen.get(line.query, 0) + (line.rows > 0)
    return (warm, kept) if any(line.rows for line in kept) else ([], list(lines))


def latency_of(line: BatchLine) -> Latency:
    """The latency of one batch's records, read back from its line."""
    if not line.latency_steps:
        return latency_from_figures(line.latency)
    return Latency.from_steps(line.latency, line.latency_steps)


def latency_from_figures(figures: dict[str, float | int]) -> Latency:
    """The latency that a few quantiles describe; between two of them it errs on the high side.

    >>> seen = Latency.of([0.1, 0.2, 0.3, 0.4])
    >>> latency_from_figures(seen.as_dict()).quantile(0.99) == seen.quantile(0.99)
    True
    """
    count = int(figures.get("count", 0))
    if not count:
        return Latency.none()
    values = np.array([*(figures[name] for name in QUANTILES), figures["max"]], dtype=np.float64)
    shares = np.diff([0.0, *QUANTILES.values(), 1.0])
    mean, variance, low, high = (float(figures[n]) for n in ("mean", "variance", "min", "max"))
    return Latency(count, mean, variance, low, high, values, shares * count)


def merged(parts: Iterable[Latency]) -> Latency:
    """All the latencies as one."""
    return Latency.together(parts)


def seconds_of(warm: Sequence[BatchLine], kept: Sequence[BatchLine]) -> float:
    """From the last answer of the warm-up, or the first batch's start, to the last answer."""
    if not kept:
        return 0.0
    begun_s = max((line.published_s for line in warm), default=min(k.started_s for k in kept))
    return max(line.published_s for line in kept) - begun_s


def account_of(lines: Iterable[BatchLine]) -> Account:
    """Where the records were after the last batch of each query."""
    last = {line.query: line.account for line in lines}
    total = Account()
    for found in last.values():
        total = Account(
            total.arrived + found.get("arrived", 0),
            total.answered + found.get("answered", 0),
            total.quarantined + found.get("quarantined", 0),
            total.waiting + found.get("waiting", 0),
            total.blank + found.get("blank", 0),
        )
    return total


def account_dict(account: Account) -> dict[str, int]:
    """An account as the log and the commands write it."""
    return asdict(account)

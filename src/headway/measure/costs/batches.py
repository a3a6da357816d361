"""What micro-batches of a flow cost: each phase as a function of what drives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from math import log2
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.measure.batches import BatchLine
from headway.measure.costs.fits import Fit, Growth, Line
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.readers import Readers, fits_together, fits_with, kept_fits, read_fits
from headway.measure.costs.stores import BY_STORE, Store, Stores
from headway.measure.moments import ARRIVALS, SERVICE, Moments

NOT_COSTS = ("queue", "wait", "down")  # how long a record waits is no cost of the job
BY_RECORD = ("map", "shuffle write")
BY_KEY = ("fetch", "reduce", "state")
BY_ANSWER = ("collect", "publish")
BY_TASK = ("launch",)
FADE = 0.99  # a batch counts by so much of what the next one counts: costs change as Java warms up
ANSWERING = 0.05  # how much one batch tells about how many have answers
RATIOS = 256  # how many batches tell how far batches lie from the line
LONGEST_AFTER_S = 5.0  # what lies longer between two batches is a stop, not Spark
STRAY = 1.8  # a batch that took so many times what was expected says nothing about the line
GIVEN = 10  # batches whose size was given, after which no others are learned from
PUNCTUAL = 1.1  # times the interval, up to which a batch began when its clock said so
ODD = 2.0  # times the usual ratio, as which one counts that is higher still
MANY = 100  # records of a batch, from which on they tell at what rate they came
SETTLED = 8  # batches before which nothing is called stray
Seconds = TypeVar("Seconds", float, NDArray[np.float64])  # one, or many at once
FITS = ("task_s", "shuffle_bytes", "after_s")
GROWTHS = ("keys", "answers")


def driver_of(phase: str) -> str:
    """What a phase of a batch costs by.

    >>> driver_of("map"), driver_of("state"), driver_of("planning")
    ('records of a task', 'keys of a task', 'batches')
    """
    drivers = {
        "records of a task": BY_RECORD, "keys of a task": BY_KEY,
        "answers": BY_ANSWER, "tasks of a core": BY_TASK,
    }  # fmt: skip
    return next((name for name, phases in drivers.items() if phase in phases), "batches")


@dataclass(frozen=True, slots=True)
class BatchSize:
    """How large a batch is, in whatever a phase costs by."""

    rows: float
    keys: float
    answers: float
    readers: int
    lanes: Lanes
    store: Store | None = None

    def of(self, phase: str) -> float:
        """What a phase costs by, as `driver_of` names it."""
        match driver_of(phase):
            case "records of a task":
                return self.rows / self.lanes.mapping(self.readers)
            case "keys of a task":
                return self.keys / self.lanes.reducing
            case "answers":
                return self.answers
            case "tasks of a core":
                return self.lanes.starting(self.readers)
        return 0.0  # each batch pays it, however large


@dataclass(frozen=True, slots=True)
class BatchCosts:
    """What was learned of a flow in micro-batch, on the lanes of its profile.

    phases_s       seconds of a batch in each phase, over what drives it
    mapped_s       the same of phases that read, by how many tasks do so at the same time
    kept_s         the same of phases that touch states, by the store that these rest in
    keys           distinct keys that a batch changes, over its records; records where none is known
    window_s       from one window to the next; a batch that lasts longer changes keys of several
    answers        answers of a batch that has some, over its records
    after_s        from the publication of a batch to the earliest next decision, over its records
    task_s         seconds that the tasks of a batch run, together, over its records
    shuffle_bytes  bytes that a batch sends to its reducers, over its records
    ratios         how many times longer than expected batches took, the newest last
    arrivals       moments of the times between arrivals
    answering      the share of batches that have answers: windows are told when they close
    largest        records of the largest batch that was learned from
    """

    batches: int = 0
    records: int = 0
    phases_s: Mapping[str, Fit] = field(default_factory=dict)
    mapped_s: Readers = field(default_factory=Readers)
    kept_s: Stores = field(default_factory=Stores)
    keys: Growth = field(default_factory=Growth)
    answers: Growth = field(default_factory=Growth)
    after_s: Fit = field(default_factory=Fit)
    task_s: Fit = field(default_factory=Fit)
    shuffle_bytes: Fit = field(default_factory=Fit)
    ratios: tuple[float, ...] = ()
    arrivals: Moments = field(default_factory=Moments)
    answering: float = 1.0
    window_s: float = 0.0
    largest: float = 0.0

    def seen(self, line: BatchLine, lanes: Lanes, fade: float = FADE) -> BatchCosts:
        """The costs with one more batch; one that tells nothing changes nothing.

        What it cost before counts by the share `fade` of what it counted.
        """
        if not line.rows or not line.phases:
            return self
        work, rows = line.work, line.rows
        touched, size, spent_s = self._touched(line), size_of(line, lanes), spent_in(line)
        whole_s, expected_s = sum(spent_s.values()), self.batch_s(size)
        known = replace(self, batches=self.batches + 1, records=self.records + rows)
        # Of a size that is new nothing was expected: it cannot be stray, and it tells the most.
        if self.batches >= SETTLED and self.knows(line, least=0.5):
            ratio = round(whole_s / max(expected_s, 1e-6), 4)
            known = replace(known, ratios=(*self.ratios, ratio)[-RATIOS:])
            if whole_s > STRAY * max(expected_s, self._pooled_s(size)):
                return known
        points = {name: (size.of(name), spent_s[name]) for name in spent_s}
        mapped = {name: points[name] for name in BY_RECORD if name in points}
        kept = {name: points[name] for name in BY_STORE if name in points}
        kept |= {"task_s": (rows, work["task_s"])} if "task_s" in work else {}
        came = Moments.from_dict(line.moments[ARRIVALS]) if ARRIVALS in line.moments else Moments()
        return replace(
            known,
            phases_s=fits_with(self.phases_s, points, fade),
            mapped_s=self.mapped_s.seen(line.readers, mapped, fade),
            kept_s=holding(self.kept_s.seen(line.store, kept, fade), line),
            keys=self.keys.faded(fade).seen(rows / touched, size.keys / touched),
            window_s=work.get("window_s", self.window_s),
            largest=max(self.largest, float(rows)),
            answers=self.answers.faded(fade).seen(rows, line.answers),
            answering=self.answering + (float(line.answers > 0) - self.answering) * ANSWERING,
            task_s=with_work(self.task_s, rows, work, "task_s", fade),
            shuffle_bytes=with_work(self.shuffle_bytes, rows, work, "shuffle_bytes", fade),
            arrivals=Moments.together([self.arrivals, came]),
        )

    def judged(self, line: BatchLine, lanes: Lanes, keep: int) -> BatchCosts:
        """The costs as they are, with how far one more batch lay from them.

        While a flow runs steadily its batches are all alike, which tells how costs have changed and
        nothing about what is fixed in them: the line stays, and the ratios to it move.
        """
        if not line.rows or not line.phases:
            return self
        expected_s = self.batch_s(size_of(line, lanes))
        ratio = round(sum(spent_in(line).values()) / max(expected_s, 1e-6), 4)
        known = replace(self, batches=self.batches + 1, records=self.records + line.rows)
        usual = sorted(self.ratios)[len(self.ratios) // 2] if self.ratios else ratio
        # One that the machine stood still in says nothing of the next; if it goes on, most do.
        if ratio > ODD * usual:
            ratio = round(ODD * usual, 4)
        return replace(known, ratios=(*self.ratios, ratio)[-keep:])

    def knows(self, line: BatchLine, least: float = 4.0) -> bool:
        """Whether batches of about the size of this one were seen."""
        powers = {power: weight for power, weight, *_ in self.keys.steps}
        rows = line.rows / self._touched(line)
        return rows > 0 and powers.get(round(log2(rows)), 0.0) >= least

    def _touched(self, line: BatchLine) -> float:
        """How many windows the records of a batch touch, on average."""
        return windows_in(lasting_in(line), line.work.get("window_s", self.window_s))

    def followed(self, before: BatchLine, after: BatchLine) -> BatchCosts:
        """The costs with the time between two batches, if nothing but Spark lay in between."""
        if SERVICE not in before.moments or SERVICE not in after.moments:
            return self
        decided_s = before.published_s - before.moments[SERVICE]["first"]
        next_s = after.published_s - after.moments[SERVICE]["first"]
        if (after.batch, after.store) != (before.batch + 1, before.store):
            return self
        if not before.rows or not after.rows:
            return self
        waited = decided_s + before.interval_s > before.published_s
        idle = after.published_s - float(after.latency["max"]) > before.published_s
        between_s = max(0.0, next_s - before.published_s)
        if waited or idle or between_s > LONGEST_AFTER_S:
            return self
        return replace(self, after_s=self.after_s.faded(FADE).seen(before.rows, between_s))

    def size(self, rows: float, readers: int, lanes: Lanes, lasting_s: float = 0.0) -> BatchSize:
        """How large a batch of so many records would be that came within so many seconds."""
        keys = self.keys_of(rows, lasting_s)
        return BatchSize(rows, keys, self.answers.at(rows), readers, lanes)

    def keys_of(self, rows: float, lasting_s: float = 0.0) -> float:
        """How many keys so many records change that came within so many seconds."""
        touched = windows_in(lasting_s, self.window_s)
        return self.keys.at(rows / touched) * touched

    def batch_s(self, size: BatchSize) -> float:
        """How long a batch takes, once it is decided, until its answers are out."""
        return sum(
            self.line(name, size.readers, size.store).at(size.of(name)) for name in self.phases_s
        )

    def _pooled_s(self, size: BatchSize) -> float:
        """How long a batch takes by what is known of all readers and stores together."""
        return sum(fit.at(size.of(name)) for name, fit in self.phases_s.items())

    def line(self, phase: str, readers: int, store: Store | None = None) -> Line:
        """What a phase costs while so many tasks read, and states rest in a store.

        Where that is not known, what it costs however many read, and in whichever store.
        """
        own = self.mapped_s.line(phase, readers) or self.kept_s.line(phase, store)
        return self.phases_s.get(phase, Fit()).at_least(0.0) if own is None else own

    def filled_by(self, other: BatchCosts) -> BatchCosts:
        """These costs, with the stores that they say nothing about, and how records came."""
        came = self.arrivals if self.arrivals.count else other.arrivals
        return replace(self, kept_s=self.kept_s.filled_by(other.kept_s), arrivals=came)

    def together(self, newer: BatchCosts, keep: float) -> BatchCosts:
        """What was known and what was learned since; the former counts by the share `keep`."""
        return BatchCosts(
            self.batches + newer.batches,
            self.records + newer.records,
            fits_together(self.phases_s, newer.phases_s, keep),
            self.mapped_s.together(newer.mapped_s, keep),
            self.kept_s.together(newer.kept_s, keep),
            ratios=(*self.ratios, *newer.ratios)[-RATIOS:],
            arrivals=Moments.together([self.arrivals.faded(keep), newer.arrivals]),
            answering=newer.answering,
            window_s=newer.window_s or self.window_s,
            largest=max(self.largest, newer.largest),
            **{n: getattr(self, n).together(getattr(newer, n), keep) for n in (*GROWTHS, *FITS)},
        )

    def as_dict(self) -> dict[str, Any]:
        """The costs as they are kept."""
        return {
            "batches": self.batches,
            "records": self.records,
            "phases_s": kept_fits(self.phases_s),
            "mapped_s": self.mapped_s.as_dict(),
            "kept_s": self.kept_s.as_dict(),
            "ratios": list(self.ratios),
            "arrivals": self.arrivals.as_dict(),
            "answering": self.answering,
            "window_s": self.window_s,
            "largest": self.largest,
            **{name: getattr(self, name).as_dict() for name in FITS},
            **{name: getattr(self, name).as_lists() for name in GROWTHS},
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> BatchCosts:
        """Read what was kept."""
        parts: dict[str, Any] = {name: Fit(**kept[name]) for name in FITS}
        parts |= {name: Growth.from_lists(kept[name]) for name in GROWTHS}
        return cls(
            int(kept["batches"]),
            int(kept["records"]),
            read_fits(kept["phases_s"]),
            Readers.from_dict(kept["mapped_s"]),
            Stores.from_dict(kept["kept_s"]),
            ratios=tuple(kept["ratios"]),
            arrivals=Moments.from_dict(kept["arrivals"]),
            answering=float(kept["answering"]),
            window_s=float(kept["window_s"]),
            largest=float(kept["largest"]),
            **parts,
        )


def size_of(line: BatchLine, lanes: Lanes) -> BatchSize:
    """How large a batch was; where nobody has counted keys, each record has its own."""
    keys = line.work.get("keys", 0.0) or float(line.rows)
    return BatchSize(line.rows, keys, line.answers, line.readers, lanes, line.store)


def spent_in(line: BatchLine) -> dict[str, float]:
    """What a batch spent in each phase that costs something."""
    return {name: p["mean"] for name, p in line.phases.items() if name not in NOT_COSTS}


def lasting_in(line: BatchLine) -> float:
    """Within how many seconds the records of a batch came."""
    return float(line.latency["max"]) - float(line.latency["min"])


def windows_in(lasting_s: Seconds, window_s: float) -> Seconds:
    """How many windows records touch, on average, that come within so many seconds.

    >>> windows_in(3.0, 2.0), windows_in(3.0, 0.0)
    (2.5, 1.0)
    """
    return 1.0 + (lasting_s / window_s if window_s else 0.0 * lasting_s)


def with_work(fit: Fit, x: float, work: Mapping[str, float], name: str, fade: float) -> Fit:
    """A fit with what was done in a batch, where that is known."""
    return fit.faded(fade).seen(x, work[name]) if name in work else fit


def holding(kept: Stores, line: BatchLine) -> Stores:
    """Costs by store, with how much of the heap the states of one more batch take."""
    if line.store != "memory" or "memory_bytes" not in line.work:
        return kept
    records, heap_bytes = line.account.get("answered", 0), line.work.get("heap_bytes", 0.0)
    return kept.holding(records, living_in(line), line.work["memory_bytes"], heap_bytes)


def living_in(line: BatchLine) -> float:
    """Records whose states live at a time, as a batch's records came; 0 where states stay."""
    lasting_s, lives_s = lasting_in(line), line.work.get("lives_s", 0.0)
    return line.rows / lasting_s * lives_s if lives_s and line.rows >= MANY and lasting_s else 0.0


def held_anew(kept: Stores, lines: Iterable[BatchLine], unlike: float) -> Stores:
    """Costs by store, with how states become more as some batches tell, and nothing else.

    After `unlike` records they are the same ones again: states that stay as many then would grow
    with records that are new.
    """
    bare = replace(kept, held_bytes=Growth(), living=0.0)
    fresh = (line for line in lines if line.account.get("answered", 0) <= unlike)
    return reduce(holding, fresh, bare)


def tasks_s(costs: BatchCosts, rows: float, store: Store | None) -> float:
    """How long the tasks of a batch run, together."""
    own = costs.kept_s.line("task_s", store)
    return costs.task_s.at(rows) if own is None else own.at(rows)


def batch_costs(lines: Iterable[BatchLine], lanes: Lanes) -> BatchCosts:
    """What the batches of a run teach.

    A batch that took what had piled up is large because those before it were slow, and slow times
    last: its size would be blamed for them. Where enough batches have a size of their own, given by
    a clock or a limit, they alone tell what a size costs.
    """
    every = list(lines)
    follow = list(zip(every, [None, *every], strict=False))
    given = [one for one, last in follow if given_size(one, last)]
    taught = {id(one) for one in (given if len(given) >= GIVEN else every)}
    costs = BatchCosts()
    for line, last in follow:
        if id(line) in taught:
            costs = costs.seen(line, lanes)
        if last is not None:
            costs = costs.followed(last, line)
    return costs


def given_size(line: BatchLine, before: BatchLine | None) -> bool:
    """Whether a limit or a clock made a batch as large as it is, and not how long others took."""
    if line.max_rows is not None and line.rows >= line.max_rows:
        return True
    if before is None or not line.interval_s or SERVICE not in line.moments:
        return False
    if SERVICE not in before.moments:
        return False
    decided_s, last_s = (one.published_s - one.moments[SERVICE]["first"] for one in (line, before))
    return decided_s - last_s <= line.interval_s * PUNCTUAL

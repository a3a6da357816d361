"""The stages under a question at work, each in a thread of its own (paper 5, section 3.3).

All of them are started at once. Each takes its chunk as soon as the stages that feed it have
handed it over, so while one works at a chunk, those below it are at the next.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from uuid import uuid4

import pyarrow as pa
from pyspark import InheritableThread

from headway.clock import Clock
from headway.early.chunks import Chunk
from headway.early.progress import FOREVER
from headway.engine.early.stages.ahead import Ahead, Made, end_jobs
from headway.engine.early.stages.fed import Fed, Stage
from headway.engine.early.stages.handed import BOUND, Handed, Part, Stopped
from headway.engine.early.stages.parts import (
    Below,
    PartLater,
    chunks_on_disk,
    held_in_memory,
    held_on_disk,
    on_disk,
)
from headway.engine.early.stages.schedule import Schedule


def feds_of(stage: Stage) -> list[Fed]:
    """The tables of a question that other questions answer."""
    return [one for one in stage.tables.stored.values() if isinstance(one, Fed)]


def stages_under(last: Stage) -> list[Stage]:
    """All stages that a question rests on, each once, those that feed before those that read."""
    found: dict[int, Stage] = {}

    def visit(stage: Stage) -> None:
        for fed in feds_of(stage):
            under = fed.stage
            if id(under) not in found:
                visit(under)
                found[id(under)] = under

    visit(last)
    return list(found.values())


class Line:
    """The stages of one question at work; on leaving they stop, and what they kept is dropped.

    Not `at_once`, each stage runs to its end before the next begins, as jobs do that know nothing
    of each other.
    """

    def __init__(
        self, last: Stage, schedule: Schedule, clock: Clock, begin: int = 0, at_once: bool = True
    ) -> None:
        self._last, self._schedule, self._clock, self._begin = last, schedule, clock, begin
        self._at_once = at_once
        self._stages = stages_under(last)
        self._kept = {id(stage): kept_by(stage, schedule) for stage in self._stages}
        self._begins = begins_of(self._stages, last, begin, self._kept)
        self.handed = {
            id(stage): Handed(
                self._begins[id(stage)].readers, stage.forgets, BOUND if at_once else FOREVER
            )
            for stage in self._stages
        }
        self._tag = f"headway-{uuid4().hex}"
        session = last.tables.session
        self._ahead = Ahead(last.plan.job, session, self._tag)
        self._parts_ahead = {
            id(stage): Ahead(partial(self._kept_later, stage), session, self._tag)
            for stage in self._stages
        }
        self._left: dict[tuple[int, Chunk], Part] = {}  # planned ahead, and not handed over yet
        self._first_out = threading.Event()
        self._stopped = False
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Line:
        if not self._at_once:
            self._first_out.set()
            for stage in self._stages:
                self._feed(stage)
            return self
        for stage in self._stages:
            thread = InheritableThread(target=self._feed, args=(stage,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped = True
        self._first_out.set()
        for handed in self.handed.values():
            handed.stop()
        end_jobs(self._last.tables.session, self._tag, self._threads)
        for ahead in (self._ahead, *self._parts_ahead.values()):
            ahead.stop()
        for part in self._left.values():
            part.drop()
        for handed in self.handed.values():
            handed.clear()
        for stage in [*self._stages, self._last]:
            stage.plan.states.clear()

    def compute(self, n: int, chunk: Chunk) -> pa.Table:
        """The rows of a chunk of the last stage."""
        self._fetch(self._last, n)
        begun = self._clock.steady_s()
        found = self._taken(self._ahead, self._last, n, chunk)
        if found is None:
            found = self._last.plan.compute(chunk)
        self._schedule.took(n, self._clock.steady_s() - begun)
        self._make_room(self._last, n)
        self._let_go(self._last, n, chunk)
        self._first_out.set()
        return found

    def _taken(self, ahead: Ahead[Made], stage: Stage, n: int, chunk: Chunk) -> Made | None:
        """What was computed ahead of its turn, while the next is begun; or None.

        That is if the next chunk is known by now, and can be computed by itself.
        """
        if n > self._begin and stage.forgets and not feds_of(stage):
            coming = self._schedule.settled(n + 1)
            if coming is not None:
                ahead.begin(chunk)
                ahead.begin(coming)
        return ahead.take(chunk)

    def _feed(self, stage: Stage) -> None:
        """Hand over one chunk after the other; the second waits until the first answer is out."""
        handed = self.handed[id(stage)]
        if self._at_once:  # else it is the thread of whoever asks, whose jobs are not ours to mark
            stage.tables.session.sparkContext.addJobTag(self._tag)
        try:
            for n, chunk in self._chunks(stage):
                handed.wait_for_room()
                part = self._part(stage, n, chunk)
                handed.put(n, part)
                # Rows that stay are begun with while the jobs that read them are planned.
                first = n == self._begin and not self._stopped
                if self._at_once and first and stage.forgets:
                    part.compute()
                if n == 0:
                    stage.look_ahead()
        except Stopped:
            return
        except BaseException as error:
            if not self._stopped:
                handed.fail(error)

    def _chunks(self, stage: Stage) -> Iterator[tuple[int, Chunk]]:
        n = self._begins[id(stage)].hands
        while (chunk := self._schedule.chunk(n)) is not None:
            yield n, chunk
            n += 1
            if n > self._begin:
                # The first answer has the machine to itself; chunks are then decided by its cost.
                self._first_out.wait()

    def _part(self, stage: Stage, n: int, chunk: Chunk) -> Part:
        """One chunk computed, or found where an earlier run has left it."""
        place = stage.folder
        if place is not None and n < self._kept[id(stage)]:
            return on_disk(stage.schema, chunk, place)
        self._fetch(stage, n)
        begun = self._clock.steady_s()
        part: Part | None = None
        if self._at_once and chunk.first == chunk.last:  # more tasks would be before its readers'
            part = self._taken(self._parts_ahead[id(stage)], stage, n, chunk)
        if part is None:
            part = self._kept_now(stage, n, chunk)
        self._left.pop((id(stage), chunk), None)
        self._schedule.took(n, self._clock.steady_s() - begun)
        self._make_room(stage, n)
        return part

    def _kept_now(self, stage: Stage, n: int, chunk: Chunk) -> Part:
        """A chunk computed where its rows are kept; the first in memory is computed later."""
        place = stage.folder
        frame = stage.plan.frame(chunk)
        below = Below(partial(self._let_go, stage, n, chunk))
        if place is None:
            again = stage.forgets or len(self._begins[id(stage)].readers) > 1
            return held_in_memory(chunk, frame, below, again, now=n > self._begin)
        held_on_disk(chunk, frame, place)
        below.let_go()
        return on_disk(stage.schema, chunk, place)

    def _kept_later(self, stage: Stage, chunk: Chunk) -> PartLater:
        """A chunk of a stage that rests on tables alone, to be computed ahead of its turn.

        On disk it may be there before the one before it: a restart computes from the gap on.
        """
        frame = stage.plan.frame(chunk)
        if (place := stage.folder) is not None:
            part_there = on_disk(stage.schema, chunk, place)
            return PartLater(part_there, partial(held_on_disk, chunk, frame, place))
        below = Below(partial(stage.plan.states.computed, chunk))
        part = held_in_memory(chunk, frame, below, read_again=True, now=False)
        self._left[id(stage), chunk] = part
        return PartLater(part, part.compute)

    def _fetch(self, stage: Stage, n: int) -> None:
        for fed in feds_of(stage):
            fed.parts = self.handed[id(fed.stage)].take(n)

    def _make_room(self, stage: Stage, n: int) -> None:
        """A chunk of a stage is planned: the stages that feed it may go on."""
        for fed in feds_of(stage):
            self.handed[id(fed.stage)].done(n)

    def _let_go(self, stage: Stage, n: int, chunk: Chunk) -> None:
        """A chunk of a stage is computed: it needs no more of what it was made of."""
        stage.plan.states.computed(chunk)
        for fed in feds_of(stage):
            self.handed[id(fed.stage)].let_go(n)


@dataclass(frozen=True, slots=True)
class Begin:
    """The first chunk that a stage hands over, and the first that each of its readers computes."""

    hands: int
    readers: tuple[int, ...]


def begins_of(
    stages: Sequence[Stage], last: Stage, begin: int, kept: Mapping[int, int]
) -> dict[int, Begin]:
    """Where each stage begins when the last one goes on with chunk `begin`.

    A stage whose rows are handed over once hands all of them over again, from disk if they are
    there; of the others only what comes is needed (paper 5, section 4.1).
    """
    computes = {id(last): begin}
    found: dict[int, Begin] = {}
    for stage in reversed(stages):
        reading = [one for one in [*stages, last] for fed in feds_of(one) if fed.stage is stage]
        readers = tuple(computes[id(one)] for one in reading)
        hands = 0 if stage.forgets else min(readers)
        found[id(stage)] = Begin(hands, readers)
        computes[id(stage)] = max(hands, kept[id(stage)])
    return found


def kept_by(stage: Stage, schedule: Schedule) -> int:
    """How many chunks of the schedule an earlier run of the stage has left on disk."""
    if stage.folder is None:
        return 0
    there = chunks_on_disk(stage.folder)
    decided = [one.chunk for one in schedule.spent]
    same = [one == other for one, other in zip(there, decided, strict=False)]
    return same.index(False) if False in same else len(same)


def longest(chains: Iterable[list[Chunk]]) -> list[Chunk]:
    """The chunks that earlier runs decided: those of the last stage, and what follows on them.

    >>> longest([[Chunk(0, 0)], [Chunk(0, 0), Chunk(1, 4)], [Chunk(0, 2)]])
    [Chunk(first=0, last=0), Chunk(first=1, last=4)]
    """
    found: list[Chunk] = []
    for chain in chains:
        if len(chain) > len(found) and chain[: len(found)] == found:
            found = chain
    return found

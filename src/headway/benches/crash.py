"""Kill -9 a run over and over, and count what was lost, doubled or decided anew: nothing may be."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from headway.benches.options import Bar, BenchOptions, progress
from headway.clock import SystemClock
from headway.engine.spark.settings import Settings
from headway.engine.topics.spool import Spool
from headway.flow.graph import Flow
from headway.flow.sources import replay, spool
from headway.keep.pacing import Pace
from headway.measure.batches import BatchLog
from headway.testing.compare import compare
from headway.testing.crashes import Child, snapshot_of
from headway.testing.job import Ending, Job
from headway.testing.offset_log import Snapshot, changed_decisions
from headway.testing.replayed import published, reference_outcome
from headway.workloads.keys import KeyCounts
from headway.workloads.makers.keyed import KEYED, Keyed

SENTENCE = "Kills -9 two runs at random instants and checks every answer against the reference."
TIMES, QUICK_TIMES = 40, 4
RATE_PER_S = 200
LONGEST_DELAY_S = 2.5
APPEND_EVERY_S = 0.1
SETTINGS = Settings(
    master="local[2]",
    pace=Pace(interval_s=0.05),
    buckets=4,
    # The whole log is kept, so that every batch can be checked against it.
    spark={"spark.sql.streaming.minBatchesToRetain": "1000000"},
)


@dataclass(slots=True)
class Victim:
    """A job that is killed, and what was seen of it."""

    job: Job
    snapshots: list[Snapshot] = field(default_factory=list)
    restarts_s: list[float] = field(default_factory=list)
    ending: Ending | None = None


def run(options: BenchOptions) -> dict[str, Any]:
    """Kill, restart, compare."""
    times = options.times or (QUICK_TIMES if options.quick else TIMES)
    chance = Random(options.seed)
    place = Path(tempfile.mkdtemp(prefix="headway-crash-"))
    try:
        victims = [Victim(windows_job(place / "windows")), Victim(pair_job(place / "pair"))]
        with fed(place / "windows" / "in") as feeder, progress(times + 2, "kills") as bar:
            delays = [chance.uniform(0, LONGEST_DELAY_S) for _ in range(times)]
            # Side by side: most of the time is spent waiting for a start.
            with ThreadPoolExecutor(len(victims)) as pool:
                each = [delays[n :: len(victims)] for n in range(len(victims))]
                for _ in pool.map(partial(kill_often, bar=bar), victims, each):
                    pass
            finish(victims, feeder.stop(), bar)
        return figures(victims)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def windows_job(place: Path) -> Job:
    """Native windows over a spool that is appended to all the time, to Parquet."""
    Spool(place / "in", KEYED)
    counted = spool(place / "in").key("key").window("1s").reduce(n="count(*)", total="sum(value)")
    return job_of(counted.to(f"parquet:{place}/answers"), place)


def pair_job(place: Path) -> Job:
    """A Python pair over an endless replay, to a spool."""
    place.mkdir(parents=True)
    records = replay(Keyed(keys=20), rate=RATE_PER_S)
    return job_of(records.pair(KeyCounts()).to(f"spool:{place}/answers"), place)


def job_of(flow: Flow, place: Path) -> Job:
    """A job whose folder lies beside its answers."""
    return Job(flow, place / "run", SETTINGS)


class Feeder:
    """Appends made records to a spool at a steady rate until stopped."""

    def __init__(self, folder: Path) -> None:
        self._spool, self._maker = Spool(folder), Keyed(keys=20)
        self._done = threading.Event()
        self._fed = 0
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def _feed(self) -> None:
        step = round(RATE_PER_S * APPEND_EVERY_S)
        while not self._done.wait(APPEND_EVERY_S):
            self._spool.append(self._maker.make(self._fed, self._fed + step))
            self._fed += step

    def stop(self) -> int:
        """Stop appending; returns how many records there are."""
        self._done.set()
        self._thread.join()
        return self._fed


@contextmanager
def fed(folder: Path) -> Iterator[Feeder]:
    """A spool that grows inside a ``with`` block."""
    feeder = Feeder(folder)
    try:
        yield feeder
    finally:
        feeder.stop()


def kill_often(victim: Victim, delays_s: Sequence[float], bar: Bar) -> None:
    """Kill one victim once for each delay."""
    for delay_s in delays_s:
        kill_once(victim, delay_s)
        bar.advance(note="killed")


def kill_once(victim: Victim, delay_s: float) -> None:
    """Start the victim, let it complete a batch, and kill it a while later."""
    with Child(victim.job) as child:
        victim.restarts_s.append(child.wait_batches())
        SystemClock().sleep(delay_s)
        child.kill()
    victim.snapshots.append(snapshot_of(victim.job))


def finish(victims: list[Victim], fed_records: int, bar: Bar) -> None:
    """Start each victim once more and let it go on until all that was fed is read."""
    for victim, enough in zip(victims, (fed_records, read_so_far(victims[1]) + 1), strict=True):
        with Child(replace(victim.job, until_records=enough)) as child:
            victim.ending = child.wait()
        bar.advance(note="completed")


def read_so_far(victim: Victim) -> int:
    """How many records the log says were answered."""
    lines = list(BatchLog(victim.job.folder / "batches.jsonl").lines())
    return lines[-1].account["answered"] if lines else 0


def figures(victims: list[Victim]) -> dict[str, Any]:
    """What was lost, doubled or changed, over all victims."""
    parts = [check(victim) for victim in victims]
    return {
        "kills": sum(len(victim.snapshots) for victim in victims),
        **{name: sum(part[name] for part in parts) for name in parts[0]},
        "restarts_s_median": round(median(s for v in victims for s in v.restarts_s), 2),
    }


def check(victim: Victim) -> dict[str, int]:
    """One victim's answers against the reference engine, its log against the snapshots."""
    job, ending = victim.job, victim.ending
    assert ending is not None
    wanted = reference_outcome(job.flow, job.folder).answers
    found = compare(wanted, published(job.flow, job.folder))
    final = snapshot_of(job)
    lines = list(BatchLog(job.folder / "batches.jsonl").lines())
    return {
        "lost": found.lost.total(),
        "doubled": found.doubled.total(),
        "decisions_changed": len(changed_decisions(victim.snapshots, final, lines)),
        "unexplained": abs(ending.account.unexplained),
        "log_lines_wrong": abs(len(final.committed) - len(lines)),
        "interrupted_batches": len({b for taken in victim.snapshots for b in taken.interrupted}),
        "batches": len(final.committed),
        "records": ending.account.answered,
        "answers": len(wanted),
    }

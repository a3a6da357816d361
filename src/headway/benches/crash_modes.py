"""Kill -9 a run from Kafka to Kafka over and over, and start it again in either mode."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from headway.benches.options import Bar, BenchOptions, progress
from headway.clock import SystemClock
from headway.engine.kafka.sink import MARK, VERSION_MARK
from headway.engine.spark.settings import Settings
from headway.flow.sources import topic
from headway.keep.pacing import Pace
from headway.plan.modes import MODES, Mode, RealTime
from headway.testing.broker import Broker, rows_in
from headway.testing.crashes import Child
from headway.testing.feeder import Feed, Feeder
from headway.testing.job import Ending, Job
from headway.workloads.makers.keyed import KEYED, Keyed

SENTENCE = "Kills -9 a count from Kafka to Kafka, goes on in either mode, and checks every version."
TIMES, QUICK_TIMES = 20, 3
RATE = 200.0
LONGEST_DELAY_S = 2.5
SETTINGS = Settings(
    master="local[4]",
    pace=Pace(interval_s=0.1),
    until="stopped",
    real_time=RealTime(checkpoint_s=2.0),
    spark={"spark.sql.shuffle.partitions": "1"},
)


@dataclass(slots=True)
class Seen:
    """What was seen of the kills: the modes that were begun, and how long each start took."""

    modes: list[Mode] = field(default_factory=list)
    starts_s: list[float] = field(default_factory=list)


def run(options: BenchOptions) -> dict[str, Any]:
    """Feed, kill, start again in a mode that chance picks, compare."""
    times = options.times or (QUICK_TIMES if options.quick else TIMES)
    chance, maker, seen = Random(options.seed), Keyed(keys=20, seed=options.seed), Seen()
    count = round(RATE * times * 12)
    with (
        Broker() as broker,
        tempfile.TemporaryDirectory(prefix="headway-crash-") as place,
        progress(times + 1, "kills") as bar,
    ):
        broker.create("in", "out")
        records = topic("in", at=broker.at, schema=KEYED)
        flow = records.key("key").reduce(n="count(*)").to(f"{broker.at}/out")
        job = Job(flow, Path(place) / "run", SETTINGS)
        feed = Feed(maker, "in", broker.at, RATE, count, "key")
        with Feeder(feed) as feeder:
            for _ in range(times):
                kill_once(job, chance, seen, bar)
            feeder.wait(count / RATE)
        with Child(replace(job, until_records=count)) as child:
            ending = child.wait()
        bar.advance(note="completed")
        figures = figures_of(f"{broker.address}/out", maker, count, ending)
    figures |= {
        "kills": times,
        "begun_in": dict(Counter(seen.modes)),
        "starts_s_median": round(median(seen.starts_s), 2),
    }
    options.keep("crash_modes", figures)
    return figures


def kill_once(job: Job, chance: Random, seen: Seen, bar: Bar) -> None:
    """Start the run in some mode, let it complete a batch or checkpoint, and kill it later."""
    mode = chance.choice(MODES)
    seen.modes.append(mode)
    with Child(replace(job, settings=replace(job.settings, mode=mode))) as child:
        seen.starts_s.append(child.wait_batches())
        SystemClock().sleep(chance.uniform(0, LONGEST_DELAY_S))
        child.kill()
    bar.advance(note=mode)


def figures_of(address: str, maker: Keyed, count: int, ending: Ending) -> dict[str, Any]:
    """What a consumer outside holds against what was fed."""
    fed = Counter(maker.make(0, count).column("key").to_pylist())
    newest: dict[str, int] = {}
    content: dict[tuple[str, int], int] = {}
    by_batch: Counter[tuple[str, int]] = Counter()
    differing = rows = 0
    for headers, row in rows_in(address):
        rows += 1
        version, key = int(headers[VERSION_MARK]), row["key"]
        differing += content.setdefault((key, version), row["n"]) != row["n"]
        by_batch[key, version] += MARK in headers
        newest[key] = max(version, newest.get(key, 0))
    return {
        "lost": sum(max(0, wanted - newest.get(key, 0)) for key, wanted in fed.items()),
        "doubled": sum(max(0, found - fed.get(key, 0)) for key, found in newest.items()),
        "versions_that_differ": differing,
        "repeated_by_micro_batch": sum(max(0, times - 1) for times in by_batch.values()),
        "repeated_in_all": rows - len(content),
        "unexplained": abs(ending.account.unexplained),
        "ended": ending.how,
        "records": count,
        "answers": rows,
    }

"""What a run leaves behind for whoever plans the next one or looks at this one."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa

from headway.engine.spark.folder import RunFolder
from headway.engine.spark.gate.offsets import NATIVE
from headway.errors import RunError
from headway.flow.graph import Flow
from headway.measure.batches import BatchLine, BatchLog
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import PROFILES, JobProfile, load_profile, profile_of
from headway.measure.spent import write_phases
from headway.plan.modes import MODES

WARM = {"micro-batch": 5, "real-time": 1}  # batches whose costs are those of a new JVM
PROFILE = "profile.json"


def known_of(flow: Flow, folder: Path, lanes: Lanes) -> JobProfile:
    """What is known of a flow's costs on these lanes: from its own folder, or from `profile`."""
    known = [JobProfile(flow.fingerprint, lanes)]
    for path in (folder / PROFILE, PROFILES / f"{flow.fingerprint}.json"):
        try:
            found = load_profile(path)
        except RunError:
            continue
        if (found.flow, found.lanes) == (flow.fingerprint, lanes):
            known.append(found)
    # A run whose batches were all alike tells less than a trial with batches of many sizes.
    best = max(known[1:] or known, key=lambda each: len(each.batch.keys.steps))
    for other in known:
        best = best.filled_by(other)
    return best


def keep_figures(folder: RunFolder, flow: Flow, lanes: Lanes) -> None:
    """Keep the phases of a run, and what it has taught in each mode that it ran in."""
    log = list(BatchLog(folder.log).lines())
    learned = learned_from(log, flow, lanes)
    try:
        write_phases(log, folder.path / "phases.parquet")
        if not learned.empty:
            learned.save(folder.path / PROFILE)
    except (OSError, pa.ArrowException) as error:
        # The answers are out; that a summary of them is missing makes no run fail.
        sys.stderr.write(f"the figures of the run were not kept: {error}\n")


def learned_from(log: list[BatchLine], flow: Flow, lanes: Lanes) -> JobProfile:
    """What the batches of a flow's first sink teach: a profile is of one query."""
    found = JobProfile(flow.fingerprint, lanes)
    for mode in MODES:
        own = of_mode(log, flow.sinks[0].name, mode)[WARM[mode] :]
        found = found.together(profile_of(own, flow.fingerprint, mode, lanes))
    return found


def of_mode(log: list[BatchLine], query: str, mode: str) -> list[BatchLine]:
    """The lines of a query in one mode that tell where time went."""
    native = mode == "real-time"
    return [
        line
        for line in log
        if line.query == query and line.phases and (line.because == NATIVE) == native
    ]

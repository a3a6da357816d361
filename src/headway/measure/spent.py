"""Where the time of a whole run went: each phase over all its records, and for the slowest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headway.measure.batches import BatchLine
from headway.measure.latency import STEPS, Latency
from headway.measure.phases import Phases

BAND = (0.985, 0.995)  # the records around the 99th percentile
TABLE = pa.schema(
    [
        ("query", pa.string()), ("batch", pa.int64()), ("published_s", pa.float64()),
        ("records", pa.int64()), ("phase", pa.string()), ("mean_s", pa.float64()),
        ("variance_s2", pa.float64()), ("p50_s", pa.float64()), ("p99_s", pa.float64()),
        ("max_s", pa.float64()), ("steps_s", pa.list_(pa.float64())),
    ]
)  # fmt: skip


def time_in(phase: dict[str, Any], records: int) -> Latency:
    """The time that the records of a batch spent in one phase, read back from its line."""
    steps = phase.get("steps")
    if not steps:
        return Latency.same(phase["mean"], records)
    figures = {**phase, "count": records, "min": min(steps), "max": phase.get("max", max(steps))}
    return Latency.from_steps(figures, steps)


def phases_of(lines: Iterable[tuple[int, Phases]]) -> dict[str, Latency]:
    """The time in each phase over the records of many batches, each with its number of records."""
    known = [(records, phases) for records, phases in lines if phases]
    names = dict.fromkeys(name for _, phases in known for name in phases)
    # A phase that a mode does not have took its records no time.
    return {
        name: Latency.together(
            time_in(phases[name], records) if name in phases else Latency.same(0.0, records)
            for records, phases in known
        )
        for name in names
    }


def band_of(lines: Sequence[BatchLine], band: tuple[float, float] = BAND) -> dict[str, float]:
    """The mean time in each phase of the records whose latency lies in a band of quantiles.

    In a micro-batch all records share every phase but `queue` and `wait`, and those follow from how
    old a record was: it waited for the batch at most as long as the batch before was over, and
    queued the rest. In real-time mode phases differ from record to record and are summed up one by
    one, so that nothing is known of the slow ones together: those lines are passed over.
    """
    known = [line for line in lines if line.latency_steps and "wait" in line.phases]
    if not known:
        return {}
    widths = np.diff(STEPS)
    late = np.concatenate([line.latency_steps for line in known])
    weights = np.concatenate([widths * line.rows for line in known])
    places = np.repeat(np.arange(len(known)), len(widths))
    order = np.argsort(late, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    before = reached - weights[order] / weights.sum()
    inside = np.minimum(reached, band[1]) - np.maximum(before, band[0])
    sums: dict[str, float] = {}
    for at, share in zip(order, inside, strict=True):
        if share > 0:
            for name, seconds in spent_by(known[places[at]], float(late[at])).items():
                sums[name] = sums.get(name, 0.0) + share * seconds
    whole = sum(share for share in inside if share > 0)
    return {name: found / whole for name, found in sums.items()}


def spent_by(line: BatchLine, latency_s: float) -> dict[str, float]:
    """What a record of a micro-batch with this latency spent in each phase."""
    shared = {n: p["mean"] for n, p in line.phases.items() if n not in ("queue", "wait")}
    age_s = max(0.0, latency_s - sum(shared.values()))
    wait_s = min(age_s, line.phases["wait"].get("max", line.phases["wait"]["p99"]))
    return {"queue": age_s - wait_s, "wait": wait_s} | shared


def write_phases(lines: Iterable[BatchLine], path: Path) -> Path:
    """Write the phases of a run as Parquet: a row for each batch and phase."""
    rows = [
        {
            "query": line.query, "batch": line.batch, "published_s": line.published_s,
            "records": line.rows, "phase": name, "mean_s": phase["mean"],
            "variance_s2": phase["variance"], "p50_s": phase["p50"], "p99_s": phase["p99"],
            "max_s": phase.get("max", phase["p99"]), "steps_s": phase.get("steps") or None,
        }
        for line in lines
        for name, phase in line.phases.items()
    ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.name}.new")
    pq.write_table(pa.Table.from_pylist(rows, TABLE), written)
    return written.replace(path)

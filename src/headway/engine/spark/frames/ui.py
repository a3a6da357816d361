"""What the Spark UI of a running application tells of its streaming queries, over its REST face."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headway.engine.spark.metering.stages import Stage, phases_within
from headway.errors import RunError
from headway.measure.watched import Watched, WatchedBatch, batch_phases

NOT_SEEN = (
    "the Spark UI tells of jobs and stages, not of logs and planning between them: that time is "
    "counted as idle. headway.watch(query) in the application itself sees both"
)
DESCRIBED = re.compile(
    r"^(.*?)(?:<br/>)?\s*id = (\S+?)(?:<br/>)?\s+runId = (\S+?)(?:<br/>)?\s+batch = (\d+|init)"
)
TIMEOUT_S = 60.0  # the first question makes the UI load its classes


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a streaming query's batch."""

    name: str
    run: str
    batch: int
    submitted_us: int
    completed_us: int
    stages: tuple[int, ...]


def read_ui(url: str) -> list[Watched]:
    """The streaming queries of an application, each with its last batches."""
    root = f"{url.rstrip('/')}/api/v1/applications"
    apps = ask(root)
    if not apps:
        raise RunError(f"{url} knows no application; give the address of a running one's Spark UI")
    place = f"{root}/{apps[0]['id']}"
    jobs = [job for found in ask(f"{place}/jobs") if (job := job_of(found)) is not None]
    stages = {int(each["stageId"]): each for each in ask(f"{place}/stages")}
    settings = dict(ask(f"{place}/environment")["sparkProperties"])
    cores = sum(int(each["totalCores"]) for each in ask(f"{place}/executors"))
    if not jobs:
        raise RunError(f"the application at {url} has run no batch of a streaming query yet")
    return [
        Watched(name_of(own), batches_of(own, stages), settings, cores or None, (NOT_SEEN,))
        for own in by_run(jobs)
    ]


def ask(url: str) -> Any:
    """The answer of the UI to one question."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as page:
            return json.load(page)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise RunError(
            f"no Spark UI answers at {url} ({error}); is the application running, with "
            "spark.ui.enabled, and is it the address that it printed when it started?"
        ) from error


def job_of(found: Mapping[str, Any]) -> Job | None:
    """A job of a streaming query's that has ended; None for any other."""
    match = DESCRIBED.match(found.get("description", ""))
    if match is None or match[4] == "init" or "completionTime" not in found:
        return None
    return Job(
        match[1] or match[2],
        match[3],
        int(match[4]),
        micros(found["submissionTime"]),
        micros(found["completionTime"]),
        tuple(int(stage) for stage in found["stageIds"]),
    )


def by_run(jobs: Sequence[Job]) -> list[list[Job]]:
    """The jobs of each query, in order."""
    runs: dict[str, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: (job.batch, job.submitted_us)):
        runs.setdefault(job.run, []).append(job)
    return list(runs.values())


def name_of(jobs: Sequence[Job]) -> str:
    """What a query is called."""
    return jobs[0].name


def batches_of(jobs: Sequence[Job], stages: Mapping[int, Mapping[str, Any]]) -> list[WatchedBatch]:
    """The batches that jobs belong to."""
    grouped: dict[int, list[Job]] = {}
    for job in jobs:
        grouped.setdefault(job.batch, []).append(job)
    made: list[WatchedBatch] = []
    for number in sorted(grouped):
        made.append(batch_of(grouped[number], stages, made[-1] if made else None))
    return made


def batch_of(
    jobs: Sequence[Job], stages: Mapping[int, Mapping[str, Any]], before: WatchedBatch | None
) -> WatchedBatch:
    """One batch from its jobs and their stages."""
    begun_us, ended_us = min(j.submitted_us for j in jobs), max(j.completed_us for j in jobs)
    known = [stages[number] for job in jobs for number in job.stages if number in stages]
    read = [stage for found in known if (stage := stage_of(found)) is not None]
    read.sort(key=lambda stage: stage.submitted_us)
    took_s = (ended_us - begun_us) / 1e6
    within = phases_within(read, begun_us, ended_us, 0.0)
    idle_s = begun_us / 1e6 - before.started_s - before.took_s if before else None
    return WatchedBatch(
        jobs[0].batch,
        begun_us / 1e6,
        took_s,
        sum(int(found.get("inputRecords", 0)) for found in known) or None,
        idle_s,
        batch_phases({"addBatch": took_s * 1e3}, within, took_s),
        tasks=max((int(found.get("numTasks", 0)) for found in known), default=0),
        staged=bool(read),
    )


def stage_of(found: Mapping[str, Any]) -> Stage | None:
    """A stage as the UI tells of it; None for one that was skipped or has not ended."""
    names = ("submissionTime", "firstTaskLaunchedTime", "completionTime")
    if any(found.get(name) is None for name in names):
        return None
    submitted, launched, completed = (micros(found[name]) for name in names)
    return Stage(
        submitted,
        launched,
        completed,
        found["executorRunTime"] / 1e3,
        found.get("shuffleFetchWaitTime", 0) / 1e3,
        found.get("shuffleWriteTime", 0) / 1e9,
    )


def micros(text: str) -> int:
    """A time as the UI writes it.

    >>> micros("2026-01-01T00:00:01.500GMT") % 60_000_000
    1500000
    """
    at = datetime.strptime(text.removesuffix("GMT"), "%Y-%m-%dT%H:%M:%S.%f")
    return round(at.replace(tzinfo=UTC).timestamp() * 1e6)

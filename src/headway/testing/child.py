"""Carry out a job in a process of its own: ``python -m headway.testing.child JOB REPORT``."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path

from headway.clock import SystemClock
from headway.engine import faults
from headway.engine.spark.run import RunHandle, run
from headway.errors import HeadwayError
from headway.testing.job import Job, tell

POLL_S = 0.02


def main(job_file: Path, report: Path) -> int:
    """Run the job, reporting each batch and the end; 1 when the run failed."""
    job = Job.load(job_file)
    if job.die_at is not None:
        # Set here, where the group is known, and before Spark starts, so that the JVM and every
        # Python worker inherit it.
        os.environ[faults.VARIABLE] = f"{job.die_at}:{os.getpgid(0)}"
    try:
        handle = run(job.flow, folder=job.folder, settings=job.settings)
        tell(report, started=True)
        follow(handle, job, report)
        handle.wait()
    except HeadwayError as error:
        tell(report, error=type(error).__name__, text=str(error))
        return 1
    tell(report, account=asdict(handle.account))
    return 0


def follow(handle: RunHandle, job: Job, report: Path) -> None:
    """Report batches until the run ends or has answered enough."""
    clock = SystemClock()
    seen = {(line.query, line.batch) for line in handle.lines()}
    while handle.active:
        for line in handle.lines():
            if (line.query, line.batch) not in seen:
                seen.add((line.query, line.batch))
                tell(report, batch=line.batch, rows=line.rows)
        if job.enough(handle.account):
            handle.stop()
        clock.sleep(POLL_S)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))

"""Scripted crashes: a run that is killed again and again, at named stages or at any instant."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headway.clock import Clock, SystemClock
from headway.engine.spark.run import run
from headway.errors import RunError
from headway.measure.account import Account
from headway.testing.job import Ending, Job, told
from headway.testing.offset_log import Snapshot, take_snapshot
from headway.testing.processes import LEASH, family, kill_family
from headway.testing.replayed import checkpoint_of

POLL_S = 0.02
PATIENCE_S = 300.0
ERROR = re.compile(r"^(Caused by: )?[\w.$]+(Error|Exception)\b|^Caused by")


class Child:
    """A job that runs in a process, and a session, of its own; none of it outlives the block."""

    def __init__(self, job: Job, clock: Clock | None = None) -> None:
        self.job, self._clock = job, clock or SystemClock()
        self._scratch = tempfile.TemporaryDirectory(prefix="headway-child-")
        scratch = Path(self._scratch.name)
        self._report, self._errors = scratch / "report", scratch / "stderr"
        job.save(scratch / "job")
        command = [*LEASH, sys.executable, "-m", "headway.testing.child", str(scratch / "job")]
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [*command, str(self._report)],
                env=os.environ | surroundings(scratch),
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
        self.session = self._process.pid
        self.started_s = self._clock.steady_s()
        self._over = False

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._scratch.cleanup()

    @property
    def active(self) -> bool:
        """Whether the child's driver still runs."""
        return self._process.poll() is None

    @property
    def batches(self) -> list[int]:
        """The batches that this start has completed so far."""
        return [said["batch"] for said in told(self._report) if "batch" in said]

    def wait_batches(self, count: int = 1, patience_s: float = PATIENCE_S) -> float:
        """Wait until so many batches were completed; return the seconds since the start."""
        self._wait_for(lambda: len(self.batches) >= count, patience_s)
        if len(self.batches) < count:
            raise RunError(f"the child ended early, after batches {self.batches}:\n{self.tail()}")
        return self._clock.steady_s() - self.started_s

    def wait(self, patience_s: float = PATIENCE_S) -> Ending:
        """Wait for the end, and see to it that every process of the child has ended too."""
        self._wait_for(lambda: False, patience_s)
        self.kill()
        said = list(told(self._report))
        for line in said:
            if "error" in line:
                return Ending("failed", error=line["error"], text=line["text"])
            if "account" in line:
                return Ending("done", Account(**line["account"]))
        if self._process.returncode >= 0:
            raise RunError(f"the child died without a word of headway's:\n{self.tail()}")
        return Ending("killed")

    def kill(self) -> None:
        """Kill -9 the driver, its JVM and every worker, all at once."""
        if not self._over:
            kill_family(self.session)
            self._process.wait()
            self._over = True

    def jvms(self) -> list[int]:
        """The process groups of the child's JVMs."""
        return [each.group for each in family(self.session) if each.name == "java"]

    def tail(self) -> str:
        """The errors that the child wrote, without their traces, and the end of it all."""
        text = self._errors.read_text(errors="replace")
        named = [line for line in text.splitlines() if ERROR.search(line)]
        return "\n".join([*dict.fromkeys(line[:400] for line in named[-40:]), text[-3_000:]])

    def _wait_for(self, reached: Callable[[], bool], patience_s: float) -> None:
        until = self._clock.steady_s() + patience_s
        while self._process.poll() is None and not reached():
            if self._clock.steady_s() > until:
                raise RunError(f"the child hung for {patience_s:g} s:\n{self.tail()}")
            self._clock.sleep(POLL_S)


def surroundings(scratch: Path) -> dict[str, str]:
    """Environment of a child: cheap to start, and with a place for what a kill leaves behind."""
    # JVMs that live for seconds start sooner without the optimising compiler.
    java = f"-Djava.io.tmpdir={scratch} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
    return {
        # The child finds the classes of the caller's own modules where the caller found them.
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYSPARK_PYTHON": sys.executable,
        "TMPDIR": str(scratch),
        "SPARK_LOCAL_DIRS": str(scratch),
        "JAVA_TOOL_OPTIONS": f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} {java}".strip(),
    }


@dataclass(frozen=True, slots=True)
class Survived:
    """How a run got through its crashes: its end, and the log as it stood after each."""

    ending: Ending
    snapshots: tuple[Snapshot, ...]


def survive(job: Job, deaths: Sequence[str], session: Any = None) -> Survived:
    """Start a job once for each death, given as "stage:count", and then let it complete.

    A session given completes it; otherwise that is done by one more child.
    """
    snapshots = []
    for death in deaths:
        with Child(replace(job, die_at=death)) as child:
            ending = child.wait()
        if ending.how != "killed":
            raise RunError(f"the child was to die at {death!r}; it was {ending.how}: {ending.text}")
        snapshots.append(snapshot_of(job))
    return Survived(completed(replace(job, die_at=None), session), tuple(snapshots))


def completed(job: Job, session: Any = None) -> Ending:
    """How a job ends that nobody kills: in a session of the caller's, or in a child."""
    if session is None:
        with Child(job) as child:
            return child.wait()
    clock = SystemClock()
    until = clock.steady_s() + PATIENCE_S
    with run(job.flow, folder=job.folder, session=session, settings=job.settings) as handle:
        while handle.active and not job.enough(handle.account):
            if clock.steady_s() > until:
                raise RunError(f"the run hung for {PATIENCE_S:g} s: {handle.account}")
            clock.sleep(POLL_S)
    handle.wait()  # raises what made it end, if it failed
    return Ending("done", handle.account)


def snapshot_of(job: Job) -> Snapshot:
    """What Spark's log of a job's first sink says now."""
    return take_snapshot(checkpoint_of(job.folder, job.flow.sinks[0]))

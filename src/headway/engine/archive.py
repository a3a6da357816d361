"""Spark's classes, read and checked once at set-up, and shared by every JVM that starts after it.

Most of what a JVM does until Spark's first answer is to load classes. Java keeps them in an archive
(application class-data sharing); one that does not fit the JVM, say after an upgrade of Java, is
passed over, and everything works as without it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from headway.clock import Clock, SystemClock

VARIABLE = "HEADWAY_ARCHIVE"  # another place for the archive; 'none' does without
QUIET = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
PATIENCE_S = 180.0
# A flow that touches what flows touch: the gate, SQL, windows, state, a sink.
EXERCISE = """
import sys
import headway as hw
records = hw.replay([{"text": "a b"}, {"text": "b"}] * 50, rate=1000)
words = records.map("explode(split(text, ' ')) AS word", key="word").window("20ms")
flow = words.reduce(n="count(*)").to("parquet:" + sys.argv[1] + "/out")
settings = hw.Settings(master="local[2]", pace=hw.Pace(interval_s=0.05))
assert hw.run(flow, folder=sys.argv[1] + "/run", settings=settings).wait(150)
"""


def archive_path() -> Path | None:
    """Where the archive is, or would be; None when it is not wanted."""
    named = os.environ.get(VARIABLE, "")
    if named == "none":
        return None
    return Path(named) if named else Path(sys.prefix) / "share" / "headway" / "spark.jsa"


def java_options() -> str:
    """What a JVM is told so that it uses the archive; nothing when there is none."""
    path = archive_path()
    return f"-XX:SharedArchiveFile={path} {QUIET}" if path is not None and path.is_file() else ""


def make_archive(clock: Clock | None = None) -> bool:
    """Run a small flow and keep the classes that it took; False when that did not work."""
    clock, path = clock or SystemClock(), archive_path()
    if path is None:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(".new")
    made.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="headway-archive-") as place:
        done = subprocess.run(
            [sys.executable, "-c", EXERCISE, place],
            env={**os.environ, VARIABLE: "none", "SPARK_SUBMIT_OPTS": writing(made)},
            capture_output=True,
            text=True,
        )
    # The JVM writes when it ends, which it does after the Python that had started it.
    until, size = clock.steady_s() + PATIENCE_S, -1
    while not done.returncode and clock.steady_s() < until:
        now = made.stat().st_size if made.exists() else -1
        if now > 0 and now == size:
            made.replace(path)
            return True
        size = now
        clock.sleep(1.0)
    sys.stderr.write(f"Spark's classes could not be archived, so it starts slowly: {done.stderr}")
    made.unlink(missing_ok=True)
    return False


def writing(path: Path) -> str:
    """What the JVM is told that writes the archive."""
    return f"-XX:ArchiveClassesAtExit={path} {QUIET}"


if __name__ == "__main__":
    make_archive()

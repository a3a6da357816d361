"""A real standalone Spark cluster on loopback addresses, for tests of what one process cannot show.

Each worker has an address of its own (127.0.0.2, 127.0.0.3, ...), so that Spark takes them for
different hosts, and a session of its own, so that it can be killed like a host that fails.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from headway.clock import Clock, SystemClock
from headway.engine.archive import java_options
from headway.errors import SessionError
from headway.testing.processes import LEASH, Process, family, kill, kill_family

MASTER_HOST = "127.0.0.1"
PATIENCE_S = 120.0
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
JAVA = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {java_options()}".strip()
# For an application on such a cluster: small executors, and losses that are noticed soon.
SPARK_SETTINGS = {
    "spark.driver.host": MASTER_HOST,
    "spark.driver.bindAddress": MASTER_HOST,
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": JAVA,
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "200ms",
    "spark.sql.streaming.minBatchesToRetain": "10000",
}


class Daemon:
    """A master or worker: a process in a session of its own, with its output in a file."""

    def __init__(self, arguments: list[str], host: str, scratch: Path) -> None:
        self.output = scratch / f"{host}-{len(list(scratch.iterdir()))}.log"
        spark_class = str(spark_home() / "bin" / "spark-class")
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(
                [*LEASH, spark_class, *arguments],
                env=os.environ | daemon_environment(host, scratch),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.session = self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def said(self, text: str) -> bool:
        """Whether its log has a text."""
        return text in self.output.read_text(errors="replace")

    def executors(self) -> list[Process]:
        """The executors that this worker runs now."""
        return [each for each in family(self.session) if EXECUTOR in each.command]

    def kill(self) -> None:
        """Kill -9 it and all that it has started."""
        kill_family(self.session)
        self._process.wait()


class Cluster:
    """A master and workers with one core and a gigabyte each, inside a ``with`` block."""

    def __init__(self, workers: int = 2, clock: Clock | None = None) -> None:
        self._count, self._clock = workers, clock or SystemClock()
        self._stack = ExitStack()
        self.workers: list[Daemon] = []
        self.url = ""

    def __enter__(self) -> Cluster:
        with ExitStack() as stack:
            folder = tempfile.TemporaryDirectory(prefix="headway-cluster-")
            scratch = Path(stack.enter_context(folder))
            port = free_port(MASTER_HOST)
            self.url = f"spark://{MASTER_HOST}:{port}"
            master = self._start(master_arguments(port), MASTER_HOST, scratch, stack)
            self._wait_for(master, "New state: ALIVE")
            for number in range(self._count):
                host = f"127.0.0.{number + 2}"
                arguments = worker_arguments(host, scratch / host, self.url)
                self.workers.append(self._start(arguments, host, scratch, stack))
            for worker in self.workers:
                self._wait_for(worker, "Successfully registered with master")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def kill_executor(self) -> Process | None:
        """Kill -9 the first executor found; its worker starts another. None if there is none."""
        for worker in self.workers:
            for executor in worker.executors():
                kill(executor.pid)
                return executor
        return None

    def _start(self, arguments: list[str], host: str, scratch: Path, stack: ExitStack) -> Daemon:
        daemon = Daemon(arguments, host, scratch)
        stack.callback(daemon.kill)
        return daemon

    def _wait_for(self, daemon: Daemon, text: str) -> None:
        until = self._clock.steady_s() + PATIENCE_S
        while not daemon.said(text):
            if not daemon.alive or self._clock.steady_s() > until:
                told = daemon.output.read_text(errors="replace")[-2_000:]
                raise SessionError(f"a test cluster did not start; its last words:\n{told}")
            self._clock.sleep(0.05)


def master_arguments(port: int) -> list[str]:
    """The command line of a master."""
    name = "org.apache.spark.deploy.master.Master"
    return [name, "--host", MASTER_HOST, "--port", str(port), "--webui-port", "0"]


def worker_arguments(host: str, folder: Path, master: str) -> list[str]:
    """The command line of a worker."""
    name = "org.apache.spark.deploy.worker.Worker"
    size = ["--cores", "1", "--memory", "1g"]
    place = ["--host", host, "--webui-port", "0", "--work-dir", str(folder)]
    return [name, *place, *size, master]


def daemon_environment(host: str, scratch: Path) -> dict[str, str]:
    """Small, and with all its leavings in one place."""
    return {
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": host,
        "SPARK_LOCAL_DIRS": str(scratch),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": JAVA,
        "PYSPARK_PYTHON": sys.executable,
    }


def spark_home() -> Path:
    """Where Spark is in the wheel of pyspark, found without importing it."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise SessionError("pyspark is not installed; run `make setup`")
    return Path(found.origin).parent


def free_port(host: str) -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind((host, 0))
        return int(listener.getsockname()[1])

"""Process families by session, so that nothing of a killed run survives: not its JVM, no worker."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headway.clock import Clock, SystemClock
from headway.errors import RunError

PATIENCE_S = 10.0
# Before a command, it has the kernel kill that command when its parent dies, however that dies.
LEASH = (
    sys.executable,
    "-I",
    "-c",
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execvp(sys.argv[1], sys.argv[1:])",
)
GONE = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Process:
    """One living process."""

    pid: int
    name: str
    group: int
    session: int

    @property
    def command(self) -> list[str]:
        """Its command line; empty once it is gone."""
        try:
            raw = Path(f"/proc/{self.pid}/cmdline").read_bytes()
        except OSError:
            return []
        return [part.decode(errors="replace") for part in raw.split(b"\0") if part]


def family(session: int) -> list[Process]:
    """The living processes of a session, whichever process groups they have moved to."""
    return [each for each in all_processes() if each.session == session]


def all_processes() -> list[Process]:
    """Every living process of this host."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and (process := read_process(path)) is not None:
            found.append(process)
    return found


def read_process(path: Path) -> Process | None:
    """One process from its entry in /proc; None if it is gone."""
    try:
        text = (path / "stat").read_text()
    except OSError:
        return None
    # The name is in brackets and may hold anything; what follows the last bracket is plain.
    head, _, rest = text.rpartition(")")
    state, _, group, session = rest.split()[:4]
    if state in GONE:
        return None
    return Process(int(path.name), head.partition("(")[2], int(group), int(session))


def kill_family(session: int, clock: Clock | None = None) -> None:
    """Kill -9 a session's leading group, then whatever else belongs to the session."""
    clock = clock or SystemClock()
    until = clock.steady_s() + PATIENCE_S
    with suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)
    while left := family(session):
        if clock.steady_s() > until:
            raise RunError(f"processes {left} survived kill -9; end them by hand")
        for process in left:
            kill(process.pid)
        clock.sleep(0.01)


def kill(pid: int) -> None:
    """Kill -9 one process, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def tree(pid: int) -> dict[int, float]:
    """A process, all that it has started and that still runs, and the CPU seconds of each."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                after = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                parents[int(entry.name)] = int(after[1])
                used[int(entry.name)] = (int(after[11]) + int(after[12])) / os.sysconf("SC_CLK_TCK")
    found, added = {pid}, True
    while added:
        more = {child for child, parent in parents.items() if parent in found} - found
        found |= more
        added = bool(more)
    return {each: used.get(each, 0.0) for each in found}


def cpu_s(pid: int) -> float:
    """The seconds of CPU that a process, and all that it has started and still runs, have used."""
    return sum(tree(pid).values())


def cpu_of_threads_s(pid: int, named: str) -> dict[int, float]:
    """The CPU seconds of each living thread with a word in its name, of a process and its own."""
    found: dict[int, float] = {}
    for process in tree(pid):
        with suppress(OSError):
            for entry in list(Path(f"/proc/{process}/task").iterdir()):
                # It may end at any time, and then tells nothing.
                with suppress(OSError, ValueError, IndexError):
                    if named in (entry / "comm").read_text():
                        ran_ns = (entry / "schedstat").read_text().split()[0]
                        found[int(entry.name)] = int(ran_ns) / 1e9
    return found


def freeze(pid: int, frozen: bool) -> None:
    """Stop a process and all that it has started where they are, or let them go on."""
    for each in tree(pid):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGSTOP if frozen else signal.SIGCONT)

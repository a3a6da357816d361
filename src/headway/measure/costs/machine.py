"""What a machine can do: its cores, its disk, its loopback network; measured once, in seconds."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import platform
import socket
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

BLOCK = bytes(1 << 20)
SMALL = bytes(4096)


@dataclass(frozen=True, slots=True)
class MachineProfile:
    """One machine.

    cpu_mb_per_s       what one core hashes, megabytes a second
    scaling            how much all cores together hash, in cores
    fsync_s            one small durable write
    disk_mb_per_s      one large durable write
    loopback_s         there and back over the loopback network
    loopback_mb_per_s  one way over it
    """

    host: str
    cores: int
    cpu_mb_per_s: float
    scaling: float
    fsync_s: float
    disk_mb_per_s: float
    loopback_s: float
    loopback_mb_per_s: float

    def save(self, path: Path) -> Path:
        """Keep the profile."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1))
        return path


def machine_profile(path: Path, folder: Path) -> MachineProfile:
    """The profile that was kept of this machine, or a new one; `folder` is on the disk to try."""
    try:
        kept = MachineProfile(**json.loads(path.read_text()))
        if (kept.host, kept.cores) == (platform.node(), os.cpu_count()):
            return kept
    except (FileNotFoundError, ValueError, TypeError):
        pass
    found = measure_machine(folder)
    found.save(path)
    return found


def measure_machine(folder: Path) -> MachineProfile:
    """Measure this machine."""
    cores = os.cpu_count() or 1
    before = undisturbed_mb_per_s()
    together = hash_together(cores)
    alone = max(before, undisturbed_mb_per_s())
    fsync_s, disk = measure_disk(folder)
    there_s, network = measure_loopback()
    return MachineProfile(
        platform.node(), cores, round(alone, 1), round(together / alone, 2),
        round(fsync_s, 6), round(disk, 1), round(there_s, 7), round(network, 1),
    )  # fmt: skip


def hash_mb_per_s(seconds: float) -> float:
    """What one core hashes."""
    begun, done = perf_counter(), 0
    while perf_counter() - begun < seconds:
        hashlib.sha256(BLOCK).digest()
        done += 1
    return done / (perf_counter() - begun)


def undisturbed_mb_per_s(tries: int = 5) -> float:
    """What one core hashes while nobody else has it: the best of some short stretches."""
    return max(hash_mb_per_s(0.1) for _ in range(tries))


def hash_together(cores: int) -> float:
    """What all cores hash at the same time."""
    starting = multiprocessing.get_context("spawn")
    begin, found = starting.Barrier(cores), starting.Queue()
    workers = [starting.Process(target=hash_with, args=(begin, found)) for _ in range(cores)]
    for worker in workers:
        worker.start()
    rates = [float(found.get(timeout=60)) for _ in workers]
    for worker in workers:
        worker.join()
    return sum(rates)


def hash_with(begin: Any, found: Any) -> None:
    """Hash while all the others do, once all of them have started."""
    begin.wait()
    found.put(undisturbed_mb_per_s())


def measure_disk(folder: Path) -> tuple[float, float]:
    """The time of a small durable write, and the rate of a large one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".headway-disk-trial"
    try:
        small_s = [timed_write(path, SMALL, 1) for _ in range(15)]
        large_s = timed_write(path, BLOCK, 64)
    finally:
        path.unlink(missing_ok=True)
    return median(small_s), 64 / large_s


def timed_write(path: Path, data: bytes, times: int) -> float:
    """How long it takes until something is written for good."""
    begun = perf_counter()
    with path.open("wb") as file:
        for _ in range(times):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return perf_counter() - begun


def measure_loopback(rounds: int = 200, megabytes: int = 128) -> tuple[float, float]:
    """The time there and back of one byte, and the rate of many."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = threading.Thread(target=echo, args=(server, rounds, megabytes), daemon=True)
        there.start()
        with socket.create_connection(server.getsockname()) as here:
            here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            times = []
            for _ in range(rounds):
                begun = perf_counter()
                here.sendall(b"x")
                here.recv(1)
                times.append(perf_counter() - begun)
            begun = perf_counter()
            for _ in range(megabytes):
                here.sendall(BLOCK)
            here.recv(1)
            rate = megabytes / (perf_counter() - begun)
        there.join()
    return median(times), rate


def echo(server: socket.socket, rounds: int, megabytes: int) -> None:
    """Answer each byte of some rounds, then take many and answer once."""
    other, _ = server.accept()
    with other:
        other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(rounds):
            other.sendall(other.recv(1))
        left = megabytes << 20
        while left > 0:
            taken = len(other.recv(1 << 20))
            if not taken:
                return
            left -= taken
        other.sendall(b"x")

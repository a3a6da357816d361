"""What a run sets aside, told to a topic of Kafka's as well: each record once, in either mode.

The quarantine's folder is what is sure; the topic is for those who would rather follow it. Files
are told in packs: a pack's names are written down before it is told, and its number is committed in
the transaction that tells it, so what a crash interrupts is told again, once.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from pathlib import Path

from headway.clock import Clock
from headway.engine.kafka.client import BrokerAway, check_topic
from headway.engine.kafka.sink import Header, KafkaSink, Row
from headway.engine.topics.quarantine import NAME, attempts, read_records, slice_of
from headway.engine.topics.spool import write_durably
from headway.errors import TopicError
from headway.flow.stream import check_kafka
from headway.flow.topics import in_kafka

EVERY_S = 1.0
ENDING_S = 30.0  # how long a run that ends waits for the rest to be told
PATIENCE_S = 10.0  # with a broker that is away; it is asked again, and a run that ends goes on
PACK = 500  # files told at once
LONGEST = 900_000  # bytes of a record that a message has room for, beside its headers
LONGEST_REASON = 2_000
REASON, WHY, PLACE = "headway.reason", "headway.why", "headway.from"  # headers of each record
SINK, CUT = "headway.sink", "headway.cut"
DONE = True  # the line after a pack that is out


class QuarantineTopic:
    """Follows the quarantine of a run, and tells what is new in it."""

    def __init__(self, folder: Path, address: str, run: str, clock: Clock) -> None:
        found = check_kafka(address)
        check_topic(*in_kafka(found))
        self._folder, self._kept = folder, folder / "told.jsonl"
        # A name that no sink has.
        self._sink = KafkaSink(found, f"{run}~quarantine", clock=clock)
        self._sink.patience_s = PATIENCE_S
        self._packs, self._out = read_packs(self._kept)
        self._ending = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="headway-aside", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell the rest, and hang up; a broker that is away is not waited for."""
        self._ending.set()
        self._thread.join(ENDING_S)
        if self._thread.is_alive() or self._failure is not None:
            why = self._failure or "its broker is away"
            warnings.warn(
                f"not all of the quarantine was told to its topic ({why}); the folder has it, and "
                "the next start of the run tells it",
                stacklevel=2,
            )

    def _run(self) -> None:
        self._follow()
        self._ending.wait()
        try:
            while self._tell():
                pass
        except Exception as error:
            self._failure = error
        self._sink.close()

    def _follow(self) -> None:
        while not self._ending.wait(EVERY_S):
            try:
                self._tell()
            except BrokerAway:
                continue
            except TopicError:  # nothing that would pass; `close` tries again, and complains
                return
            except Exception:  # a broker that is away, a disk that is full: tried again
                continue

    def _tell(self) -> int:
        """Tell one pack; how many files it has."""
        if self._out:
            pack = self._untold()
            if not pack:
                return 0
            self._note(pack)
            self._packs.append(pack)
            self._out = False
        pack = self._packs[-1]
        self._sink.publish_rows(len(self._packs) - 1, rows_of(self._folder, pack))
        self._note(DONE)
        self._out = True
        return len(pack)

    def _note(self, line: object) -> None:
        """Add a line for good, or leave the file as it was."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._kept.open("ab") as out:
            size = out.tell()
            try:
                out.write(json.dumps(line).encode() + b"\n")
                out.flush()
                os.fsync(out.fileno())
            except OSError:
                os.ftruncate(out.fileno(), size)
                raise

    def _untold(self) -> list[str]:
        told = {name for pack in self._packs for name in pack}
        found = {
            str(path.parent.relative_to(self._folder) / slice_of(path))
            for path in self._folder.rglob("*.arrow")
            if NAME.fullmatch(path.name) and holds_records(path)
        }
        return sorted(found - told)[:PACK]


def holds_records(path: Path) -> bool:
    """Whether a file is there, and has bytes of records: marks of what only counts have none."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def read_packs(kept: Path) -> tuple[list[list[str]], bool]:
    """The packs so far, and whether the last one is out; a line that was cut short is removed."""
    data = kept.read_bytes() if kept.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        write_durably(kept, whole)
    lines = [json.loads(line) for line in whole.splitlines()]
    return [line for line in lines if line is not DONE], not lines or lines[-1] is DONE


def rows_of(folder: Path, pack: list[str]) -> list[Row]:
    """The records of a pack: their bytes, with reason and origin as headers."""
    rows: list[Row] = []
    for name in pack:
        for path in attempts(folder / name)[-1:]:
            rows += file_rows(path)
    return rows


def file_rows(path: Path) -> list[Row]:
    """The records of one file."""
    match = NAME.fullmatch(path.name)
    assert match is not None
    rows: list[Row] = []
    for record in read_records(path).to_pylist():
        origin = f"{match[1]}-{match[2]}-{record['offset']}".encode()
        raw = record["raw"] or b""
        reason = record["reason"][:LONGEST_REASON].encode()
        headers: Header = [(REASON, reason), (WHY, match[5].encode()), (PLACE, origin)]
        headers.append((SINK, path.parent.name.encode()))
        if len(raw) > LONGEST:
            headers.append((CUT, str(len(raw)).encode()))
        rows.append((origin, raw[:LONGEST], headers))
    return rows

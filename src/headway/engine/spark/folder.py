"""A run's folder: what it keeps, and the checks that a restart fits what is there."""

from __future__ import annotations

import fcntl
import json
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from headway.engine.topics.spool import write_durably
from headway.errors import CheckpointError
from headway.flow.graph import Flow
from headway.flow.steps import Sink


@dataclass(slots=True)
class RunFolder:
    """The files of one run; held by one process at a time."""

    path: Path
    run: str
    lock: IO[str]
    fresh: bool

    @property
    def topics(self) -> Path:
        """Replayed files, laid out."""
        return self.path / "topics"

    @property
    def quarantine(self) -> Path:
        """Records set aside."""
        return self.path / "quarantine"

    def set_aside(self, sink: Sink) -> Path:
        """Records set aside on the way to one sink, by a path that holds on other hosts, too."""
        return (self.quarantine / sink.name).resolve()

    @property
    def log(self) -> Path:
        """One line per batch."""
        return self.path / "batches.jsonl"

    def checkpoint(self, sink: Sink) -> Path:
        """Spark's checkpoint of the query for one sink."""
        return checkpoint_of(self.path, sink)

    def sink(self, sink: Sink) -> Path:
        """What headway keeps of one sink."""
        return self.path / "sinks" / plain(sink.name)

    def begins(self, sink: Sink) -> dict[str, dict[str, int]]:
        """Where the run began to read each source, where its offsets do not tell any more."""
        kept = self.sink(sink) / "begin.json"
        found: dict[str, dict[str, int]] = json.loads(kept.read_text()) if kept.exists() else {}
        return found

    def keep_begins(self, sink: Sink, begins: dict[str, dict[str, int]]) -> None:
        """Keep where the run began to read; what is kept already stays as it is."""
        self.sink(sink).mkdir(parents=True, exist_ok=True)
        kept = begins | self.begins(sink)
        write_durably(self.sink(sink) / "begin.json", json.dumps(kept).encode())

    def check_checkpoint(self, sink: Sink, answered: bool) -> None:
        """Refuse to start over where answers are out already: they would come twice."""
        if answered and not any((self.checkpoint(sink) / "offsets").glob("[0-9]*")):
            raise CheckpointError(
                f"the checkpoint {self.checkpoint(sink)} is gone, but answers of this run are out "
                f"in sink {sink.name!r}; starting over would give them twice. Restore the "
                "checkpoint, or give a new run folder and a new place for the answers"
            )

    def release(self) -> None:
        """Let another process have the folder."""
        self.lock.close()


def checkpoint_of(folder: Path, sink: Sink) -> Path:
    """Spark's checkpoint of the query for one sink of the run in a folder."""
    return folder / "checkpoint" / plain(sink.name)


def plain(name: str) -> str:
    """A name that can be part of a path."""
    return re.sub(r"[^\w.=-]+", "_", name)


def open_folder(path: Path, flow: Flow, buckets: int) -> RunFolder:
    """Take a run folder, new or left by an earlier start of the same flow."""
    if path.exists() and not path.is_dir():
        raise CheckpointError(f"{path} is a file; give the run a folder of its own")
    path.mkdir(parents=True, exist_ok=True)
    lock = (path / ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise CheckpointError(
            f"another run holds the folder {path}; stop it, or give this run a folder of its own"
        ) from None
    about = path / "run.json"
    if not about.exists():
        known: dict[str, Any] = {
            "run": secrets.token_hex(4), "fingerprint": flow.fingerprint, "flow": str(flow),
            "buckets": buckets,
        }  # fmt: skip
        write_durably(about, json.dumps(known, indent=1).encode())
        return RunFolder(path, known["run"], lock, fresh=True)
    known = json.loads(about.read_text())
    if known["fingerprint"] != flow.fingerprint:
        lock.close()
        raise CheckpointError(
            f"the folder {path} belongs to another flow.\n  it was begun with:\n"
            f"{indent(known['flow'])}\n  now it is given:\n{indent(str(flow))}\n"
            "Give this flow a folder of its own."
        )
    if known.get("buckets", buckets) != buckets:
        lock.close()
        raise CheckpointError(
            f"the run in {path} keeps the states of its pairs in {known['buckets']} buckets; with "
            f"{buckets} they would not be found. Set buckets={known['buckets']} again, or give a "
            "new run folder"
        )
    return RunFolder(path, known["run"], lock, fresh=False)


def indent(text: str) -> str:
    """Text moved in, for a message."""
    return "\n".join(f"    {line}" for line in text.splitlines())

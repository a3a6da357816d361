"""What a run sets aside, told to a topic of Kafka's as well: each record once, in either mode.

The quarantine's folder is what is sure; the topic is for those who would rather follow it. Files
are told in packs: a pack's names are written down before it is told, and its number is committed in
the transaction that tells it, so what a crash interrupts is told again, once.
"""

from __future__ import annotations

import json
import threading
import warnings
from pathlib import Path

import pyarrow as pa
from confluent_kafka import KafkaException

from headway.clock import Clock
from headway.engine.kafka.client import check_topic
from headway.engine.kafka.sink import KafkaSink, Row
from headway.engine.topics.quarantine import NAME
from headway.errors import TopicError
from headway.flow.stream import check_kafka

EVERY_S = 1.0
PACK = 500  # files told at once
REASON, WHY, PLACE = "headway.reason", "headway.why", "headway.from"  # headers of each record


class QuarantineTopic:
    """Follows the quarantine of a run, and tells what is new in it."""

    def __init__(self, folder: Path, address: str, run: str, clock: Clock) -> None:
        found = check_kafka(address)
        servers, _, topic = found.partition("/")
        check_topic(servers, topic)
        self._folder, self._kept = folder, folder / "told.jsonl"
        self._sink = KafkaSink(found, f"{run}-quarantine", clock=clock)
        self._packs = read_packs(self._kept)
        self._again = bool(self._packs)  # the last pack may not be out
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="headway-aside", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell the rest, and hang up."""
        self._ending.set()
        self._thread.join()
        try:
            while self._tell():
                pass
        except (KafkaException, TopicError) as error:
            warnings.warn(
                f"not all of the quarantine was told to its topic ({error}); the folder has it, "
                "and the next start of the run tells it",
                stacklevel=2,
            )
        self._sink.close()

    def _follow(self) -> None:
        while not self._ending.wait(EVERY_S):
            try:
                self._tell()
            except (KafkaException, TopicError):  # tried again, and complained of at the end
                continue

    def _tell(self) -> int:
        """Tell one pack; how many files it has."""
        if not self._again:
            pack = self._untold()
            if not pack:
                return 0
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._kept.open("a") as out:
                out.write(json.dumps(pack) + "\n")
            self._packs.append(pack)
            self._again = True
        pack = self._packs[-1]
        self._sink.publish_rows(len(self._packs) - 1, rows_of(self._folder, pack))
        self._again = False
        return len(pack)

    def _untold(self) -> list[str]:
        told = {name for pack in self._packs for name in pack}
        found = (
            str(path.relative_to(self._folder))
            for path in self._folder.rglob("*.arrow")
            if NAME.fullmatch(path.name) and path.stat().st_size
        )
        return sorted(name for name in found if name not in told)[:PACK]


def read_packs(kept: Path) -> list[list[str]]:
    """The packs that were told, or were about to be; a line that a crash cut short was not."""
    lines = kept.read_text().splitlines(keepends=True) if kept.exists() else []
    whole = [line for line in lines if line.endswith("\n")]
    if len(whole) < len(lines):
        kept.write_text("".join(whole))
    return [json.loads(line) for line in whole]


def rows_of(folder: Path, pack: list[str]) -> list[Row]:
    """The records of a pack: their bytes, with reason and origin as headers."""
    rows: list[Row] = []
    for name in pack:
        match = NAME.fullmatch(Path(name).name)
        if match is None or not (folder / name).exists():
            continue
        with pa.OSFile(str(folder / name)) as file:
            records = pa.ipc.open_file(file).read_all().to_pylist()
        for record in records:
            place = f"{match[1]}-{match[2]}-{record['offset']}".encode()
            headers = [(REASON, record["reason"].encode()), (WHY, match[5].encode())]
            rows.append((place, record["raw"] or b"", [*headers, (PLACE, place)]))
    return rows

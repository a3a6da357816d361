"""From the gate to Kafka's own source and back: one checkpoint that each of them can read.

Spark hands a source the offset that it finds in the log, whoever wrote it. Kafka's source knows
positions only, so what headway had decided is taken out of the last offsets before it takes over.
"""

from __future__ import annotations

import json
from pathlib import Path

from headway.engine.spark.gate.offset_log import NO_OFFSET, numbered, parse_offsets, read_numbered
from headway.engine.topics.port import Position
from headway.engine.topics.spool import write_durably

LOOKED_AT = 2  # Spark reads the last offset, and the one before it to tell the source of its end


def unfinished(checkpoint: Path) -> bool:
    """Whether a batch was decided and not completed: real-time mode would forget the decision."""
    decided, done = numbered(checkpoint / "offsets"), numbered(checkpoint / "commits")
    return bool(decided) and max(decided) > max(done, default=-1)


def last_by_gate(checkpoint: Path) -> bool:
    """Whether the last batch was the gate's own, and no offset of Kafka's source."""
    decided = read_numbered(checkpoint / "offsets")
    return bool(decided) and '"headway"' in decided[max(decided)]


def begins_in(checkpoint: Path) -> dict[str, Position]:
    """Where the gate began to read, as its last decision tells."""
    decided = read_numbered(checkpoint / "offsets")
    if not decided:
        return {}
    found = parse_offsets(decided[max(decided)])
    return {name: end.decision.begin for name, end in found.items() if end.decision.begin}


def leave_positions(checkpoint: Path) -> None:
    """Take the decisions out of the last offsets; done again, it changes nothing."""
    decided = read_numbered(checkpoint / "offsets")
    for number in sorted(decided)[-LOOKED_AT:]:
        plain = without_decisions(decided[number])
        if plain != decided[number]:
            path = checkpoint / "offsets" / str(number)
            path.with_name(f".{number}.crc").unlink(missing_ok=True)
            write_durably(path, plain.encode())


def without_decisions(text: str) -> str:
    r"""The offsets of one log file, positions alone.

    >>> without_decisions('v1\n{}\n{"t": {"0": 5}, "headway": {"readers": 2}}')
    'v1\n{}\n{"t": {"0": 5}}'
    """
    head, lines = text.split("\n")[:2], text.split("\n")[2:]
    return "\n".join([*head, *(plain_line(line) for line in lines)])


def plain_line(line: str) -> str:
    """The offset of one source without headway's part."""
    if line == NO_OFFSET or not line:
        return line
    offset = json.loads(line)
    if "headway" not in offset:
        return line
    return json.dumps({name: found for name, found in offset.items() if name != "headway"})


def watermark_before(checkpoint: Path, batch: int) -> int:
    """The watermark of the batch before one, in ms: by it Spark left out what was late."""
    path = checkpoint / "offsets" / str(batch - 1)
    if not path.exists():
        return 0
    return int(json.loads(path.read_text().split("\n")[1]).get("batchWatermarkMs", 0))

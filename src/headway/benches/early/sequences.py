"""Is the sequence of answers always the same? Asked in several ways, in processes of their own."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.benches.early.questions import Question, all_questions
from headway.benches.options import progress
from headway.engine.early.ask import ask
from headway.engine.early.proving.library import Library, growing, mixed
from headway.engine.early.proving.oracle import register_functions
from headway.engine.spark.session import open_session
from headway.workloads.tpch.data import make_tables

# Cores, and how many points each job answers; the last way is killed again and again.
WAYS = (("two cores", 2, 0), ("one core", 1, 7), ("all at once", 2, 1_000), ("killed", 2, 5))
LEAST_S, MOST_S = 12.0, 30.0


@dataclass(frozen=True, slots=True)
class Wish:
    """Which questions are asked, of tables in which folder, at how many points, in which ways.

    Those `of_leaving` are asked of tuples some of which leave again, by their names.
    """

    questions: Sequence[Question]
    folder: Path
    points: int
    seed: int
    of_leaving: frozenset[str] = frozenset()
    ways: Sequence[tuple[str, int, int]] = WAYS


@dataclass(frozen=True, slots=True)
class Repeated:
    """How many sequences there were, and how many of them differ from the first of their kind."""

    sequences: int
    differ: int
    kills: int
    recomputed: frozenset[str]


def sequences_of(wish: Wish) -> Repeated:
    """Ask each question in every way, and compare the answers byte for byte."""
    names = [question.name for question in wish.questions]
    told: dict[str, dict[str, list[str]]] = {}
    recomputed: set[str] = set()
    kills = 0
    with progress(len(wish.ways), "sequences") as bar:
        for way, cores, size in wish.ways:
            out = wish.folder / f"{way}.jsonl"
            said: dict[str, object] = {
                "folder": str(wish.folder), "points": wish.points, "cores": cores, "size": size,
                "names": names, "out": str(out), "of_leaving": sorted(wish.of_leaving),
                "kept": str(wish.folder / "kept") if way == "killed" else "",
            }  # fmt: skip
            kills += asked_in_a_child(said, random.Random(wish.seed) if way == "killed" else None)
            told[way] = {}
            for line in out.read_text().splitlines():
                found = json.loads(line)
                told[way][found["name"]] = found["answers"]
                if found["rule"] == "recompute":
                    recomputed.add(found["name"])
            bar.advance(note=way)
    first, *others = told.values()
    pairs = [(first[name], other.get(name)) for other in others for name in names]
    differ = sum(one != other for one, other in pairs)
    return Repeated(len(names) * len(wish.ways), differ, kills, frozenset(recomputed))


def asked_in_a_child(said: dict[str, object], chance: random.Random | None) -> int:
    """Run a child to its end; with chance, kill it on the way and start it again; gives kills."""
    kills = 0
    while True:
        child = subprocess.Popen(
            [sys.executable, "-m", "headway.benches.early.sequences", json.dumps(said)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            patience_s = chance.uniform(LEAST_S, MOST_S) if chance and kills < 3 else None
            _, complaint = child.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.communicate()
            kills += 1
            continue
        if child.returncode:
            raise RuntimeError(complaint.decode()[-2000:])
        return kills


def main(said: dict[str, object]) -> None:
    """In the child: ask every question that was not told yet, and write its sequence down."""
    folder, points = Path(str(said["folder"])), int(str(said["points"]))
    out = Path(str(said["out"]))
    done = (
        {json.loads(line)["name"] for line in out.read_text().splitlines()}
        if out.exists()
        else set()
    )
    spark = open_session(f"local[{said['cores']}]")
    register_functions(spark)
    library = Library(spark, folder / "annotated", make_tables(folder / "tables", 0))
    wanted, leaving = set(said["names"]), set(said["of_leaving"])  # type: ignore[call-overload]
    for question in all_questions():
        if question.name not in wanted or question.name in done:
            continue
        kept = folder / "kept" / question.name if said["kept"] else None
        asking = ask(
            question.sql,
            library.open(question.keys, points, mixed if question.name in leaving else growing),
            folder=kept,
            chunk=int(str(said["size"])) or None,
        )
        answers = [answer.fingerprint for answer in asking]
        line = {"name": question.name, "answers": answers, "rule": asking.explained.rule}
        with out.open("a") as written:
            written.write(json.dumps(line) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

"""Annotated tables kept between calls: found by what they were made of, made if missing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headway.cli.asking.tables import By, Growth, choose_samplings, files_of, largest
from headway.cli.outcome import UsedWrongly
from headway.clock import Clock
from headway.early.sampling import Sampling
from headway.engine.early.ask import progress
from headway.engine.early.sources import read_source
from headway.engine.early.storage import MANIFEST, Stored, open_stored
from headway.errors import QueryError
from headway.units import format_duration


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of annotated tables, the Spark that makes them, and who is told of it."""

    folder: Path
    spark: Any
    tell: Callable[[str], None]
    clock: Clock

    def columns(self, path: Path) -> Sequence[str]:
        """The columns of a table; those of a table that is kept are known without reading it."""
        for manifest in (self.folder / source_digest(path)).glob(f"*/{MANIFEST}"):
            if (kept := opened(manifest.parent)) is not None:
                return kept.columns
        return list(read_source(path, self.spark)[0].columns)

    def annotated(self, name: str, path: Path, sampling: Sampling) -> Stored:
        """The annotated table, made unless an earlier call made it of the same files."""
        source = source_digest(path)
        folder = self.folder / source / sampling_digest(sampling)
        found = opened(folder)
        if found is not None:
            self.tell(f"table {name}: reused from {folder}")
        else:
            begun_s = self.clock.steady_s()
            found = progress(path, sampling, folder=folder.absolute(), spark=self.spark)
            taken = format_duration(round(self.clock.steady_s() - begun_s, 1))
            self.tell(f"table {name}: annotated {how(sampling)} in {taken}, kept in {folder}")
        # Answers that are kept belong to these very files, not to whatever the path holds later.
        return replace(found, source=f"{path} {source}")


def opened(folder: Path) -> Stored | None:
    """A table that is kept; None where none is, or one that is damaged or laid out as of old."""
    try:
        return open_stored(folder.absolute())
    except QueryError:
        return None


def open_given(tables: Mapping[str, Path]) -> dict[str, Stored]:
    """Those of the given tables that are annotated already."""
    return {name: open_stored(path) for name, path in tables.items() if is_annotated(path)}


def by_default(
    tables: Mapping[str, Path], opened: Mapping[str, Stored], bys: Sequence[By]
) -> By | None:
    """The largest table by row, when nothing else says how tuples enter."""
    fresh = {name: path for name, path in tables.items() if name not in opened}
    if bys or not fresh or any(not one.contract.at_start for one in opened.values()):
        return None
    return By(largest(fresh), "row")


def settle(
    tables: Mapping[str, Path], opened: Mapping[str, Stored], wishes: Wishes, store: Store
) -> dict[str, Stored]:
    """Every table annotated, in the order in which they were given."""
    for by in wishes.bys:
        if by.table is not None and by.table in opened:
            raise UsedWrongly(
                f"--by {by.table}={by}: the table is annotated already "
                f"({how(opened[by.table].sampling)}); leave this --by out"
            )
    fresh = {name: path for name, path in tables.items() if name not in opened}
    columns = {name: store.columns(path) for name, path in fresh.items()}
    chosen = choose_samplings(columns, wishes.bys, wishes.growth)
    return {
        name: opened[name] if name in opened else store.annotated(name, path, chosen[name])
        for name, path in tables.items()
    }


@dataclass(frozen=True, slots=True)
class Wishes:
    """How the tables that are not annotated yet shall be."""

    bys: tuple[By, ...]
    growth: Growth


def points_for(opened: Mapping[str, Stored], points: int) -> int:
    """At how many points a table is annotated: as many as those that it will be joined with."""
    moving = (one.sampling.points for one in opened.values() if not one.contract.at_start)
    return next(moving, points)


def is_annotated(path: Path) -> bool:
    return (path / MANIFEST).is_file()


def how(sampling: Sampling) -> str:
    """A strategy in words.

    >>> how(Sampling("key", ("o_orderkey",), 10))
    'by o_orderkey at 10 points'
    """
    if sampling.kind == "start":
        return "as there from the start"
    kind = "" if sampling.kind == "key" else sampling.kind
    said = " ".join([kind, ", ".join(sampling.by)]).strip()
    return f"by {said} at {sampling.points} points"


def source_digest(path: Path) -> str:
    """Changes when a file of the table is written, comes or goes."""
    return digest([str(path.resolve()), *files_of(path)])


def sampling_digest(sampling: Sampling) -> str:
    return digest([sampling.as_json()])


def digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

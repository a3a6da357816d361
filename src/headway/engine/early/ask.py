"""The face of early answers: annotate a table with `progress`, ask a question with `ask`."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headway.clock import Clock, SystemClock
from headway.early.chunks import Budget
from headway.early.read.query import check_given, tables_in
from headway.early.reducing import Reducer
from headway.early.sampling import Sampling
from headway.engine.early.asking import Asking
from headway.engine.early.evaluate import plan_question
from headway.engine.early.sources import our_spark, read_source
from headway.engine.early.stages.fed import Fed, check_columns
from headway.engine.early.stages.reducing import plan_reducer
from headway.engine.early.stages.schedule import Way
from headway.engine.early.storage import Stored, annotate, check_there
from headway.engine.early.views import Source, Tables, common_points, session_beside
from headway.errors import QueryError

Table = Stored | Asking | DataFrame | str | Path


def progress(
    data: DataFrame | str | Path,
    by: str | tuple[str, ...] | Sampling | None = None,
    *,
    points: int = 20,
    seed: int = 0,
    growth: float = 1.0,
    first: float | None = None,
    folder: str | Path | None = None,
    spark: SparkSession | None = None,
) -> Stored:
    """Give each tuple of a table its progress and keep the table in a folder.

    `by` is the column whose hash decides (equal keys of several tables enter together), `None` to
    go by the whole row, or a Sampling for every other strategy. `first` is the part of all tuples
    that the first point brings, such as 0.01 for an answer that is soon there.
    """
    frame, source = read_source(data, spark)
    if isinstance(by, Sampling):
        sampling = by
    elif by is None:
        sampling = Sampling("row", (), points, seed, growth, first=first)
    else:
        keys = (by,) if isinstance(by, str) else tuple(by)
        sampling = Sampling("key", keys, points, seed, growth, first=first)
    place = Path(folder) if folder is not None else Path(tempfile.mkdtemp(prefix="headway-")) / "t"
    return annotate(frame, sampling, place, source)


def ask(
    question: str | Reducer,
    tables: Mapping[str, Table],
    *,
    points: int | None = None,
    folder: str | Path | None = None,
    budget: Budget | None = None,
    chunk: int | None = None,
    spark: SparkSession | None = None,
    clock: Clock | None = None,
    at_once: bool = True,
    estimates: bool = False,
) -> Asking:
    """Ask a question of annotated tables; iterate over the answers, and stop whenever it is enough.

    The question is SQL, or a Reducer over all tables. A table that is not annotated is there from
    the start, as a dimension is; one that is itself a question is a stage that feeds this one.
    With `folder`, the answers are kept, and asking again goes on after the last complete point.
    `chunk` fixes how many points each Spark job answers; otherwise jobs grow within the budget.
    Stages run at once, each a chunk ahead of what reads it, or (`at_once=False`) in turn. With
    `estimates`, answers also tell what their counts and sums may come to over all data.
    """
    read = mentioned(question, tables)
    if isinstance(question, str) and not read:
        check_given(question, tables)
    stored, session = settled(read, spark)
    every = common_points(stored)
    wanted = min(points or every, every)
    batch = -(-every // wanted)
    if batch > 1 and any(isinstance(one, Fed) for one in stored.values()):
        raise QueryError(f"its stages answer at {every} points; ask them for {wanted} points")
    seen = Tables(session_beside(session), stored, -(-every // batch), batch, session)
    way = Way(budget or Budget(), chunk, clock or SystemClock(), at_once)
    if isinstance(question, str):
        return Asking(seen, plan_question(seen, question), place_of(folder), way, estimates)
    return Asking(seen, plan_reducer(seen, question), place_of(folder), way, estimates)


def place_of(folder: str | Path | None) -> Path | None:
    return None if folder is None else Path(folder)


def mentioned(question: str | Reducer, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables that a question reads, by their names in lower case."""
    named = {name.lower(): table for name, table in tables.items()}
    if not isinstance(question, str):
        return named
    read = tables_in(question)
    return {name: table for name, table in named.items() if name in read}


class Passing:
    """A folder that is removed when nobody refers to this any more, or the process ends."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="headway-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def settled(
    tables: Mapping[str, Table], spark: SparkSession | None
) -> tuple[dict[str, Source], SparkSession]:
    """Every table with progress; those that have none yet are there from the start."""
    if not tables:
        raise QueryError(
            "the question reads none of its tables: pass tables={'orders': hw.progress(...)}"
        )
    ours = [name for name in tables if name.startswith(("hw_", "hwrows_"))]
    if ours:
        raise QueryError(f"{', '.join(ours)} is a name as our own views have; choose another")
    stored: dict[str, Source] = {}
    for name, table in tables.items():
        if isinstance(table, Asking):
            check_columns(name, table.schema)
            stored[name] = Fed(table)
        elif isinstance(table, Stored):
            check_there(name, table)
            stored[name] = table
        else:
            passing = Passing()
            frame, source = read_source(table, spark)
            copy = annotate(frame, Sampling("start", points=1), passing.folder / name, source)
            stored[name] = replace(copy, held_by=passing)
    return stored, spark or our_spark()

"""`headway ask`: a question over stored data, answered early and ever more exactly."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.console import Console

from headway.cli.asking.cells import json_line, json_rows, step_facts, step_text
from headway.cli.asking.curves import asked_of
from headway.cli.asking.follow import Followed, Seen, ending_text, follow
from headway.cli.asking.live import AnswerView, Shown, print_answer
from headway.cli.asking.stable import parse_share
from headway.cli.asking.store import Store, Wishes, by_default, open_given, points_for, settle
from headway.cli.asking.tables import USUAL_POINTS, Growth, parse_by, parse_tables
from headway.cli.outcome import say
from headway.cli.running.spark_output import spark_output_to
from headway.clock import SystemClock
from headway.dashboard.early.page import write_page
from headway.early.read.query import check_given
from headway.engine.early import ask as engine
from headway.engine.early.answers import Answer
from headway.engine.early.asking import Asking
from headway.engine.early.sources import our_spark
from headway.engine.early.storage import Stored

STORE = Path(".headway") / "early"
PAGE = "ask.html"
BYS = "COLUMN of every table that has it, TABLE=COLUMN, TABLE=row, TABLE=start, "


@dataclass(frozen=True, slots=True)
class Told:
    """How answers are told: so many rows, as JSON or for people, and where a page goes."""

    rows: int
    as_json: bool
    report: Path | None
    estimates: bool = False

    def shown(self, answer: Answer) -> pa.Table:
        return answer.estimates if self.estimates else answer.table


def ask(
    sql: Annotated[str, typer.Argument(help="The question, as SQL.")],
    table: Annotated[
        list[str],
        typer.Option(help="NAME=PATH of files, or of an annotated table; again for more."),
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(help=f"{BYS}TABLE=strata:COLUMN or TABLE=order:EXPRESSION; again for more."),
    ] = None,
    points: Annotated[
        int | None, typer.Option(min=1, help="How many answers; 20 unless annotated otherwise.")
    ] = None,
    seed: Annotated[int, typer.Option(help="What chance is drawn from.")] = 0,
    growth: Annotated[float, typer.Option(help="How much more each point brings.")] = 1.0,
    first: Annotated[
        str | None, typer.Option(help="What part of all tuples the first point has, such as 1%.")
    ] = None,
    store: Annotated[Path, typer.Option(help="Where annotated tables are kept.")] = STORE,
    folder: Annotated[
        Path | None, typer.Option(help="Where answers are kept; again to resume.")
    ] = None,
    until_stable: Annotated[
        str | None, typer.Option(help="Stop when the answer moved less than that, such as 1%.")
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many rows are shown.")] = 20,
    estimates: Annotated[
        bool,
        typer.Option("--estimates", help="Beside counts and sums, what they may come to at 95 %."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show which rule computes what; answer nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON line for each answer, and one in the end.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Folder for an HTML page of how it converged.")
    ] = None,
) -> None:
    """Answer a question over stored data at ever more of it, each answer exact for its part."""
    until = None if until_stable is None else parse_share(until_stable, "--until-stable")
    begins = None if first is None else parse_share(first, "--first")
    grown = Growth(points or USUAL_POINTS, seed, growth, begins)
    with told_once():
        named = parse_tables(tuple(table))
        check_given(sql, named)
        tables = settled(named, tuple(by or ()), grown, store)
        place = None if explain else folder
        asking = engine.ask(sql, tables, points=points, folder=place, estimates=estimates)
        if explain:
            step = asking.explained
            print(json_line(step_facts(step)) if as_json else step_text(step))
        else:
            for warning in asking.warnings:
                say(Console(stderr=True), warning)
            tell_all(sql, asking, Told(rows, as_json, report, estimates), until)


@contextmanager
def told_once() -> Iterator[None]:
    """PySpark logs each error of a query before it raises it; here what is raised says it all."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(before)


def settled(
    tables: Mapping[str, Path], by: tuple[str, ...], growth: Growth, folder: Path
) -> dict[str, Stored]:
    """The tables of the question, annotated; nothing starts before all that was said is read."""
    bys = tuple(parse_by(text, list(tables)) for text in by)
    opened = open_given(tables)
    wishes = Wishes(bys, replace(growth, points=points_for(opened, growth.points)))
    tell = partial(say, Console(stderr=True))
    chosen = by_default(tables, opened, bys)
    if chosen is not None:
        wishes = Wishes((chosen,), wishes.growth)
        tell(f"no --by: {chosen.table}, the largest table, goes by row; the others are there whole")
    tell("starting Spark ...")
    with spark_output_to(folder):
        spark = our_spark()
    return settle(tables, opened, wishes, Store(folder, spark, tell, SystemClock()))


def tell_all(sql: str, asking: Asking, told: Told, until: float | None) -> None:
    """Follow a question to its end: answers on stdout, progress where it disturbs nothing."""
    clock, stdout, stderr = SystemClock(), Console(), Console(stderr=True)
    here = stdout if stdout.is_terminal and not told.as_json else stderr
    view = AnswerView(Shown(" ".join(sql.split()), told.rows, not told.as_json), here, clock)

    def tell(seen: Seen) -> None:
        view.show(seen)
        if told.as_json:
            print(json_line(answer_facts(seen)), flush=True)

    with view:
        followed = follow(asking, tell, clock, until, told.shown)
    page = None
    if told.report is not None:
        rules = step_text(asking.explained)
        page = write_page(asked_of(sql, followed, rules, told.rows), told.report / PAGE)
    if told.as_json:
        print(json_line(summary(followed, page)))
    else:
        print_answer(followed.last.table, told.rows, stdout)
        left = followed.last.table.num_rows - told.rows
        say(stderr, (f"and {left:,} more rows; " if left > 0 else "") + ending_text(followed))
    if page is not None:
        say(stderr, f"report: {page}")


def answer_facts(seen: Seen) -> dict[str, Any]:
    """One answer as JSON; the same in every run."""
    return {
        "point": seen.point,
        "points": seen.points,
        "progress": seen.progress,
        "rows": json_rows(seen.table),
    }


def summary(followed: Followed, page: Path | None) -> dict[str, Any]:
    """How it ended, and when answers came."""
    first, last = followed.seen[0], followed.last
    return {
        "ending": followed.ending,
        "answered": len(followed.seen),
        "points": last.points,
        "progress": last.progress,
        "row_count": last.table.num_rows,
        "moved": last.moved,
        "first_answer_s": round(first.at_s, 3),
        "last_answer_s": round(last.at_s, 3),
        "report": None if page is None else str(page),
    }

"""The page of one question: plots over progress, the last answer, and the rules behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from headway.dashboard.draw.plots import NARROW, WIDE, Series
from headway.dashboard.early.asked import AnsweredPoint, Asked
from headway.dashboard.early.draw import ProgressPlot, draw_over_progress, figure_text
from headway.dashboard.page import HALF, caption_of, document, sized
from headway.units import format_duration

TITLE = "An answer as it refined"


def write_page(asked: Asked, path: Path) -> Path:
    """Write the page to `path` and return it; the file opens anywhere, without a network."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page_of(asked), encoding="utf-8")
    return path


def page_of(asked: Asked) -> str:
    """The whole page as HTML."""
    first, *others = plots_of(asked)
    figures = [figure(first, wide=True), *(figure(plot) for plot in others)]
    points = table_of(
        ("point", "tuples", "answered after", "rows"), [point_row(one) for one in asked.answered]
    )
    parts = [
        headline(asked),
        f"<h2>Over progress (share of the tuples)</h2><div class='plots'>{''.join(figures)}</div>",
        f"<h2>The answer: {escape(asked.ending)}</h2>{table_of(asked.columns, asked.rows)}",
        rows_left(asked),
        f"<details><summary>All points ({len(asked.answered):,})</summary>{points}</details>",
        f"<details><summary>Which rule computes what</summary><pre>{escape(asked.rules)}</pre>"
        "</details>",
    ]
    return document(TITLE, "\n".join(part for part in parts if part))


def headline(asked: Asked) -> str:
    """What was asked, how it ended, and the figures of it."""
    first, last = asked.answered[0], asked.answered[-1]
    shown = [
        (f"{len(asked.answered)} of {asked.points}", "points answered"),
        (percent(last.progress), "of the tuples"),
        (format_duration(round(first.at_s, 3)), "until the first answer"),
        (format_duration(round(last.at_s, 3)), "until the last answer"),
        (f"{last.rows:,}", "rows"),
    ]
    tiles = "".join(
        f"<div class='tile'><b>{escape(value)}</b><span>{escape(name)}</span></div>"
        for value, name in shown
    )
    return (
        f"<header><h1>{TITLE}</h1><pre>{escape(asked.sql)}</pre>"
        f"<p class='verdict'>{escape(asked.ending)}</p><div class='tiles'>{tiles}</div></header>"
    )


def plots_of(asked: Asked) -> list[ProgressPlot]:
    """The plots of a question, the most asked for first; no curves where no column is a number."""
    at = tuple(one.progress for one in asked.answered)
    rows = Series("rows", "bar", tuple(float(one.rows) for one in asked.answered), "dots")
    times = Series("answered", "one", tuple(one.at_s for one in asked.answered), "step")
    plots = [
        ProgressPlot("Rows per answer", at, (rows,), figure_text,
                     tips(asked, lambda n: f"{asked.answered[n].rows:,} rows")),
        ProgressPlot("When each point was answered, since the question", at, (times,),
                     format_duration,
                     tips(asked, lambda n: f"after {seconds(asked.answered[n])}")),
    ]  # fmt: skip
    if not asked.curves:
        return plots
    series = tuple(Series(one.name, f"row{n}", one.values) for n, one in enumerate(asked.curves))
    said = tips(
        asked, lambda n: "\n".join(f"{c.name}: {value_text(c.values[n])}" for c in asked.curves)
    )
    return [ProgressPlot(f"How {asked.measure} converged", at, series, figure_text, said), *plots]


def tips(asked: Asked, say: Callable[[int], str]) -> tuple[str, ...]:
    """One text for each answered point, headed by the point."""
    return tuple(
        f"point {one.point + 1}, {percent(one.progress)}\n{say(n)}"
        for n, one in enumerate(asked.answered)
    )


def figure(plot: ProgressPlot, *, wide: bool = False) -> str:
    """A plot in both of its sizes, of which the page shows the one that fits."""
    named = plot.series if plot.series[0].look == "row0" else ()
    large, small = (draw_over_progress(plot, frame) for frame in (WIDE if wide else HALF, NARROW))
    return sized(caption_of(plot.title, named), large, small, wide=wide)


def table_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls by itself."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        "</div>"
    )


def rows_left(asked: Asked) -> str:
    """How many rows of the last answer the page leaves out."""
    left = asked.answered[-1].rows - len(asked.rows)
    return f"<p class='soft'>and {left:,} more rows</p>" if left > 0 else ""


def point_row(one: AnsweredPoint) -> tuple[str, ...]:
    return (f"{one.point + 1}", percent(one.progress), seconds(one), f"{one.rows:,}")


def seconds(one: AnsweredPoint) -> str:
    return format_duration(round(one.at_s, 3))


def percent(share: float) -> str:
    """A share of the tuples; only all of them are 100%.

    >>> percent(0.25), percent(0.9999), percent(1)
    ('25%', '99.9%', '100%')
    """
    return "100%" if share >= 1 else f"{min(share * 100, 99.9):.3g}%"


def value_text(value: float | None) -> str:
    """A value under the pointer, or a dash where the row was not there."""
    return "–" if value is None else f"{value:,.6g}"

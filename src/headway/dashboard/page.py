"""Put headline, plots and tables together into one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path

from headway.dashboard.about import RunAbout
from headway.dashboard.distribution import distribution_of
from headway.dashboard.draw.histogram import Mark, draw_distribution
from headway.dashboard.draw.plots import NARROW, WIDE, Frame, Series, TimePlot, draw
from headway.dashboard.phases import phases_plot, waterfall
from headway.dashboard.points import by_query, points_of
from headway.dashboard.sections import Timeline, plots_of, seconds
from headway.dashboard.tables import batch_table, decision_table
from headway.dashboard.verdict import Verdict, judge
from headway.flow.goals import Goal, parse_goal
from headway.keep.decisions import DECISIONS, read_decisions
from headway.measure.batches import BatchLine
from headway.measure.latency import Latency
from headway.measure.summary import RunSummary, split_warmup, summarise

HALF = Frame(460, 250)


def page_of(lines: Sequence[BatchLine], about: RunAbout) -> str:
    """The whole report as HTML."""
    goal = parse_goal(about.goal) if about.goal else None
    summary = summarise(lines, about.warmup)
    verdict = judge(goal, summary)
    warm = {(line.query, line.batch) for line in split_warmup(lines, about.warmup)[0]}
    parts = [headline(about, summary, verdict)]
    queries = by_query(lines)
    for query, own in queries.items():
        title = f"<h2>Query {escape(query)}</h2>" if len(queries) > 1 else ""
        warm_batches = frozenset(batch for name, batch in warm if name == query)
        parts.append(title + query_part(own, about, goal, warm_batches))
    if not lines:
        parts.append("<p>The run published no batch, so there is nothing to draw.</p>")
    decisions = list(read_decisions(Path(about.folder) / DECISIONS))
    parts.append(decision_table(decisions, about.started_s))
    if about.flow:
        flow = f"<pre>{escape(about.flow)}</pre>"
        parts.append(f"<details><summary>The flow</summary>{flow}</details>")
    return document(about.title, "\n".join(parts))


def document(title: str, body: str) -> str:
    """An HTML document with its style and script inside."""
    room = files("headway.dashboard")
    style, script = ((room / name).read_text("utf-8") for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def headline(about: RunAbout, summary: RunSummary, verdict: Verdict) -> str:
    """What ran, whether the goal was met, and the figures of the run."""
    started = datetime.fromtimestamp(about.started_s, UTC)
    lasted = seconds(round(about.ended_s - about.started_s, 1))
    return (
        f"<header><h1>{escape(about.title)}</h1>"
        f"<p class='soft'>{started:%Y-%m-%d %H:%M:%S} UTC, {lasted}; {escape(about.folder)}</p>"
        f"{verdict_part(verdict)}<div class='tiles'>{tiles(summary)}</div>"
        f"<p class='account'>{escape(str(about.account))}</p>"
        f"<p class='soft'>{warmup_text(summary)}</p></header>"
    )


def verdict_part(verdict: Verdict) -> str:
    """Met or missed, in words, with a sign and a colour."""
    sign, look = {True: ("✓", "good"), False: ("✗", "bad"), None: ("", "soft")}[verdict.met]
    return f"<p class='verdict {look}'>{sign} {escape(str(verdict))}</p>"


def tiles(summary: RunSummary) -> str:
    """The figures of a run, each with its name."""
    shown = [
        (f"{summary.rate_per_s:,.0f}/s", "records answered"),
        (f"{summary.records:,}", "records"),
        *latency_tiles(summary.latency, "latency"),
    ]
    if summary.window_latency.count:
        shown += latency_tiles(summary.window_latency, "windows")
    shown += [(f"{summary.batches:,}", "batches"), (f"{summary.quarantined:,}", "quarantined")]
    return "".join(
        f"<div class='tile'><b>{escape(value)}</b><span>{escape(name)}</span></div>"
        for value, name in shown
    )


def latency_tiles(latency: Latency, what: str) -> list[tuple[str, str]]:
    """Median, 99th percentile and maximum of a latency."""
    if not latency.count:
        return [("–", f"{what} p50"), ("–", f"{what} p99"), ("–", f"{what} max")]
    return [
        (seconds(round(latency.quantile(0.5), 3)), f"{what} p50"),
        (seconds(round(latency.quantile(0.99), 3)), f"{what} p99"),
        (seconds(round(latency.max_s, 3)), f"{what} max"),
    ]


def warmup_text(summary: RunSummary) -> str:
    """What the figures leave out."""
    if not summary.warmup:
        return "Every batch counts in these figures; none was left out as warm-up."
    return (
        f"The first {summary.warmup} batches are the warm-up: they are drawn, and left out of the "
        "figures above and of the distribution. The account holds every record."
    )


def query_part(
    lines: Sequence[BatchLine], about: RunAbout, goal: Goal | None, warm: frozenset[int]
) -> str:
    """The plots and the tables of one query."""
    points = tuple(points_of(lines, about.started_s, warm))
    timeline = Timeline(points, goal)
    first, *others = plots_of(timeline)
    kept = [line for line in lines if line.batch not in warm]
    figures = [figure(first, wide=True), distribution_figure(kept, goal)]
    figures += [figure(plot) for plot in others]
    if (spent := phases_plot(timeline)) is not None:
        figures.insert(1, figure(spent, wide=True))
    note = ""
    if timeline.grouped():
        note = (
            f"<p class='soft'>{len(lines):,} batches are drawn as {len(points):,} points: median "
            "p50, mean records, worst of everything else.</p>"
        )
    tables = waterfall(kept) + batch_table(lines, about.started_s, warm)
    plots = f"<div class='plots'>{''.join(figures)}</div>"
    return f"<h2>Over time (min:s since the start)</h2>{note}{plots}{tables}"


def figure(plot: TimePlot, *, wide: bool = False) -> str:
    """A plot in both of its sizes, of which the page shows the one that fits."""
    # A stack is named from below, where the first phase is.
    stacked = all(one.shape == "area" for one in plot.series)
    named = () if len(plot.series) < 2 else plot.series[::-1] if stacked else plot.series
    caption = caption_of(plot.title, named)
    return sized(caption, draw(plot, WIDE if wide else HALF), draw(plot, NARROW), wide=wide)


def caption_of(title: str, named: Sequence[Series]) -> str:
    """What stands above a plot, with the names of what it shows."""
    keys = "".join(f"<span class='key {one.look}'>{escape(one.name)}</span>" for one in named)
    return f"<figcaption><h3>{escape(title)}</h3>{keys}</figcaption>"


def sized(caption: str, large: str, small: str, *, wide: bool) -> str:
    """A figure that holds a large and a small drawing of the same plot."""
    large = large.replace('class="plot"', 'class="plot large"', 1)
    small = small.replace('class="plot"', 'class="plot small"', 1)
    full = " class='full'" if wide else ""
    return f"<figure{full}>{caption}{large}{small}<div class='tip'></div></figure>"


def distribution_figure(lines: Sequence[BatchLine], goal: Goal | None) -> str:
    """How the latencies of one query's records are spread."""
    latency = summarise(lines).latency
    if not latency.count:
        return ""
    per_record = goal if goal is not None and goal.per == "record" else None
    spread = distribution_of(latency, per_record.limit_s if per_record else None)
    marks = [
        Mark(latency.quantile(0.5), f"p50 {seconds(latency.quantile(0.5))}", "one"),
        Mark(latency.quantile(0.99), f"p99 {seconds(latency.quantile(0.99))}", "two"),
    ]
    if per_record:
        marks.append(Mark(per_record.limit_s, f"goal {per_record}", "limit"))
    title = "Latency of records, all batches together"
    caption = f"<figcaption><h3>{title}</h3></figcaption>"
    large = draw_distribution(title, spread, marks, HALF)
    return sized(caption, large, draw_distribution(title, spread, marks, NARROW), wide=False)

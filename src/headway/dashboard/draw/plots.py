"""Draw values over time as an SVG: lines, areas, bars or dots, a limit, and the warm-up shaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from headway.dashboard.draw.scales import Scale, elapsed_text, elapsed_ticks, ticks

Shape = Literal["line", "step", "bars", "dots", "area"]
LETTER = 6.4  # width of a letter of the axis text, in units of the drawing


@dataclass(frozen=True, slots=True)
class Series:
    """Values at the times of a plot's points, None where there is none; `look` is its CSS class."""

    name: str
    look: str
    values: tuple[float | None, ...]
    shape: Shape = "line"


@dataclass(frozen=True, slots=True)
class Limit:
    """A value that is marked across the whole plot, such as a goal."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class TimePlot:
    """Series over one time axis; `text` writes a value of the y axis, `tips` one text per point."""

    title: str
    times_s: tuple[float, ...]
    series: tuple[Series, ...]
    text: Callable[[float], str]
    tips: tuple[str, ...]
    limit: Limit | None = None
    warm_until_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a drawing and the room its axes take."""

    width: int
    height: int
    left: int = 52
    right: int = 12
    top: int = 14
    bottom: int = 26


WIDE = Frame(880, 260)
NARROW = Frame(340, 210)


def draw(plot: TimePlot, frame: Frame) -> str:
    """The plot as one SVG element."""
    y_ticks = ticks(top_of(plot))
    x = Scale(0.0, max(*plot.times_s, 0.1), frame.left, frame.width - frame.right)
    y = Scale(0.0, y_ticks[-1], frame.height - frame.bottom, frame.top)
    parts = [warm_part(plot, x, frame), grid_part(y_ticks, y, plot.text, frame)]
    parts.append(time_axis(x, frame))
    # The warm-up may lie far above the rest: it is cut off at the frame, not drawn over it.
    parts.append(f'<svg x="{frame.left}" y="{frame.top - 4}" {inner_size(frame)}>')
    parts += [shape_part(series, plot.times_s, x, y) for series in plot.series]
    parts.append("</svg>")
    parts.append(limit_part(plot.limit, y, frame))
    places = [x.place(t) for t in plot.times_s]
    return svg(frame, plot.title, "".join(parts), {"x": places, "text": list(plot.tips)})


def svg(frame: Frame, title: str, inner: str, tips: dict[str, list[float] | list[str]]) -> str:
    """A drawing with its title for those who cannot see it, and what to say under the pointer."""
    data = escape(json.dumps(tips, separators=(",", ":")))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" data-tips="{data}" '
        f'viewBox="0 0 {frame.width} {frame.height}"><title>{escape(title)}</title>{inner}'
        f'<line class="cross" y1="{frame.top}" y2="{frame.height - frame.bottom}"/></svg>'
    )


def top_of(plot: TimePlot) -> float:
    """The highest value that must be seen: of the limit, and of what came after the warm-up."""
    after = [t > plot.warm_until_s for t in plot.times_s]
    shown = after if any(after) else [True] * len(after)
    values = [
        value
        for series in plot.series
        for value, seen in zip(series.values, shown, strict=True)
        if seen and value is not None
    ]
    limit = [plot.limit.value * 1.08] if plot.limit else []
    return max([*values, *limit], default=0.0) or 1.0


def inner_size(frame: Frame) -> str:
    """The part between the axes as attributes, in the coordinates of the whole drawing."""
    width = frame.width - frame.left - frame.right + 4
    height = frame.height - frame.top - frame.bottom + 5
    box = f"{frame.left} {frame.top - 4} {width} {height}"
    return f'width="{width}" height="{height}" viewBox="{box}"'


def warm_part(plot: TimePlot, x: Scale, frame: Frame) -> str:
    """The time of the warm-up, shaded."""
    if plot.warm_until_s <= 0:
        return ""
    end = x.place(plot.warm_until_s)
    width, height = round(end - frame.left, 1), frame.height - frame.top - frame.bottom
    label = "warm-up, left out" if width > 18 * LETTER else "warm-up" if width > 54 else ""
    return (
        f'<rect class="warm" x="{frame.left}" y="{frame.top}" width="{width}" height="{height}"/>'
        f'<text class="axis" x="{frame.left + 4}" y="{frame.top + 12}">{label}</text>'
    )


def grid_part(values: Sequence[float], y: Scale, text: Callable[[float], str], frame: Frame) -> str:
    """Lines across at round values, each with its value at the left."""
    parts = []
    for value in values:
        at = y.place(value)
        kind = "base" if value == 0 else "grid"
        parts.append(
            f'<line class="{kind}" x1="{frame.left}" x2="{frame.width - frame.right}" '
            f'y1="{at}" y2="{at}"/><text class="axis end" x="{frame.left - 6}" y="{at + 4:g}">'
            f"{escape(text(value))}</text>"
        )
    return "".join(parts)


def time_axis(x: Scale, frame: Frame) -> str:
    """Times since the start along the bottom."""
    most = 10 if frame.width > 600 else frame.width // 75
    return "".join(
        f'<text class="axis mid" x="{x.place(t)}" y="{frame.height - 8}">{elapsed_text(t)}</text>'
        for t in elapsed_ticks(x.high, most)
    )


def limit_part(limit: Limit | None, y: Scale, frame: Frame) -> str:
    """The limit as a dashed line with its label above it, at the right."""
    if limit is None:
        return ""
    at = y.place(limit.value)
    return (
        f'<line class="limit" x1="{frame.left}" x2="{frame.width - frame.right}" '
        f'y1="{at}" y2="{at}"/><text class="limit-text end" x="{frame.width - frame.right - 4}" '
        f'y="{at - 5:g}">{escape(limit.label)}</text>'
    )


def shape_part(series: Series, times_s: Sequence[float], x: Scale, y: Scale) -> str:
    """One series in its shape."""
    places = [
        None if value is None else (x.place(at), y.place(value))
        for at, value in zip(times_s, series.values, strict=True)
    ]
    drawn = [place for place in places if place is not None]
    if series.shape == "bars":
        wide = round(max(1.0, 0.7 * abs(x.last - x.first) / max(1, len(places))), 1)
        return f'<g class="{series.look}">' + "".join(
            f'<rect x="{px - wide:g}" y="{py:g}" width="{wide}" height="{y.first - py:.1f}"/>'
            for px, py in drawn
        ) + "</g>"  # fmt: skip
    if series.shape == "dots":
        dots = "".join(f'<circle cx="{px}" cy="{py}" r="3.5"/>' for px, py in drawn)
        return f'<g class="{series.look}">{dots}</g>'
    if series.shape == "area":
        inner = "".join(f"L{px:g} {py:g}" for px, py in drawn)
        first, last = (drawn[place][0] if drawn else 0.0 for place in (0, -1))
        return (
            f'<path class="{series.look}" d="M{first:g} {y.first:g}{inner}L{last:g} {y.first:g}Z"/>'
        )
    return f'<path class="{series.look}" d="{path_of(places, series.shape)}"/>'


def path_of(places: Sequence[tuple[float, float] | None], shape: Shape) -> str:
    """The path through places, broken where there is none; a step keeps its height up to the next.

    >>> path_of([(0, 1), (2, 3), None, (4, 5)], "line")
    'M0 1L2 3M4 5'
    >>> path_of([(0, 1), (2, 3)], "step")
    'M0 1H2V3'
    """
    parts: list[str] = []
    pen_up = True
    for place in places:
        if place is None:
            pen_up = True
            continue
        px, py = place
        if pen_up:
            parts.append(f"M{px:g} {py:g}")
        else:
            parts.append(f"H{px:g}V{py:g}" if shape == "step" else f"L{px:g} {py:g}")
        pen_up = False
    return "".join(parts)

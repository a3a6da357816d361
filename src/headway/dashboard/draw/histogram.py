"""Draw the distribution of latency as an SVG, with its quantiles and the goal marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from headway.dashboard.distribution import Distribution
from headway.dashboard.draw.plots import LETTER, Frame, grid_part, svg
from headway.dashboard.draw.scales import Scale, ticks
from headway.units import format_duration

LEVEL = 15  # height of one row of labels above the bars


@dataclass(frozen=True, slots=True)
class Mark:
    """A latency marked by a line from top to bottom; `look` is its CSS class."""

    value_s: float
    label: str
    look: str


def draw_distribution(title: str, spread: Distribution, marks: Sequence[Mark], frame: Frame) -> str:
    """The distribution as one SVG element."""
    if not spread.shares:
        return ""
    # Labels stand in rows above the bars, one row per mark, so that two near marks stay readable.
    shown = [mark for mark in marks if mark.value_s <= spread.end_s]
    roof = frame.top + LEVEL * len(shown)
    y_ticks = ticks(max(spread.shares), 4)
    x = Scale(0.0, spread.end_s, frame.left, frame.width - frame.right)
    y = Scale(0.0, y_ticks[-1], frame.height - frame.bottom, roof)
    parts = [grid_part(y_ticks, y, percent, frame), latency_axis(x, frame)]
    parts.append(f'<g class="bar">{bars(spread, x, y)}</g>')
    parts += [mark_part(mark, x, row, frame) for row, mark in enumerate(shown)]
    middles = [x.place((n + 0.5) * spread.step_s) for n in range(len(spread.shares))]
    return svg(frame, title, "".join(parts), {"x": middles, "text": tips(spread)})


def bars(spread: Distribution, x: Scale, y: Scale) -> str:
    """One bar for each step that holds a record."""
    wide = max(0.5, x.place(spread.step_s) - x.first - 1)
    return "".join(
        f'<rect x="{x.place(n * spread.step_s):g}" y="{y.place(share):g}" width="{wide:g}" '
        f'height="{y.first - y.place(share):.1f}"/>'
        for n, share in enumerate(spread.shares)
        if share > 0
    )


def mark_part(mark: Mark, x: Scale, row: int, frame: Frame) -> str:
    """A line at a latency, with its label on the side that has room."""
    at = x.place(mark.value_s)
    top = frame.top + row * LEVEL
    fits = at + 8 + LETTER * len(mark.label) < frame.width
    side, place = ("", at + 4) if fits else (" end", at - 4)
    return (
        f'<line class="{mark.look}" x1="{at}" x2="{at}" y1="{top}" '
        f'y2="{frame.height - frame.bottom}"/>'
        f'<text class="mark-text{side}" x="{place:g}" y="{top + 9}">{escape(mark.label)}</text>'
    )


def latency_axis(x: Scale, frame: Frame) -> str:
    """Latencies along the bottom."""
    most = 10 if frame.width > 600 else frame.width // 80
    return "".join(
        f'<text class="axis mid" x="{x.place(value)}" y="{frame.height - 8}">'
        f"{format_duration(value)}</text>"
        for value in ticks(x.high, most)
        if value <= x.high
    )


def percent(share: float) -> str:
    """A share as people read it.

    >>> percent(0.125), percent(0)
    ('12.5%', '0%')
    """
    return f"{share * 100:.3g}%"


def tips(spread: Distribution) -> list[str]:
    """What to say of each step under the pointer."""
    step_s = spread.step_s
    return [
        f"{format_duration(n * step_s)} to {format_duration((n + 1) * step_s)}\n"
        f"{percent(share)} of the records"
        for n, share in enumerate(spread.shares)
    ]

"""Draw values over progress as an SVG: the share of the data along the bottom, any sign upwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor

from headway.dashboard.draw.plots import Frame, Series, grid_part, inner_size, shape_part, svg
from headway.dashboard.draw.scales import Scale, nice_step


@dataclass(frozen=True, slots=True)
class ProgressPlot:
    """Series over progress; `text` writes a value of the y axis, `tips` one text per point."""

    title: str
    progress: tuple[float, ...]
    series: tuple[Series, ...]
    text: Callable[[float], str]
    tips: tuple[str, ...]


def draw_over_progress(plot: ProgressPlot, frame: Frame) -> str:
    """The plot as one SVG element; bars stand on 0, which is always seen."""
    values = [value for one in plot.series for value in one.values if value is not None]
    marks = signed_ticks(min([*values, 0.0]), max([*values, 0.0]))
    x = Scale(0.0, 1.0, frame.left, frame.width - frame.right)
    y = Scale(marks[0], marks[-1], frame.height - frame.bottom, frame.top)
    parts = [grid_part(marks, y, plot.text, frame), progress_axis(x, frame)]
    parts.append(f'<svg x="{frame.left}" y="{frame.top - 4}" {inner_size(frame)}>')
    parts += [shape_part(one, plot.progress, x, y) for one in plot.series]
    parts.append("</svg>")
    places = [x.place(share) for share in plot.progress]
    return svg(frame, plot.title, "".join(parts), {"x": places, "text": list(plot.tips)})


def signed_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round values from the last not above `low` to the first not below `high`.

    >>> signed_ticks(-3, 10), signed_ticks(0, 0)
    ([-5.0, 0.0, 5.0, 10.0], [0.0, 1.0])
    """
    step = nice_step(high - low, most)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [float(f"{n * step:.12g}") for n in range(first, max(last, first + 1) + 1)]


def progress_axis(x: Scale, frame: Frame) -> str:
    """Shares of the data along the bottom."""
    shares: Sequence[float] = (
        [n / 10 for n in range(11)] if frame.width > 600 else [0, 0.25, 0.5, 0.75, 1]
    )
    return "".join(
        f'<text class="axis {"end" if share == 1 else "mid"}" x="{x.place(share)}" '
        f'y="{frame.height - 8}">{share:.0%}</text>'
        for share in shares
    )


def figure_text(value: float) -> str:
    """A figure as an axis shows it.

    >>> figure_text(-12_000), figure_text(2.5e9), figure_text(0.25)
    ('-12k', '2.5G', '0.25')
    """
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"

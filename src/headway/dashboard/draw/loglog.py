"""Draw curves with both axes logarithmic as an SVG of its own: rates against latencies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#1b6ca8", "#c8553d", "#4f9d69", "#8f5ea2", "#b8860b", "#555555")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 70, 190, 20, 44


@dataclass(frozen=True, slots=True)
class Curve:
    """Points (x, y), both above 0, under one name; `dashed` sets it apart, `dots` joins none."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False
    dots: bool = False


def draw_curves(
    curves: Sequence[Curve], x_label: str, y_label: str, text: Callable[[float], str]
) -> str:
    """The curves as one SVG; `text` writes a value of the y axis."""
    points = [point for curve in curves for point in curve.points]
    x = log_scale([p[0] for p in points], LEFT, WIDTH - RIGHT)
    y = log_scale([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">'
    ]
    for value in decades([p[0] for p in points]):
        parts.append(f'<line x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{TOP}" '
                     f'y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')  # fmt: skip
        parts.append(f'<text x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                     f'text-anchor="middle">{value:,.0f}</text>')  # fmt: skip
    for value in decades([p[1] for p in points]):
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" '
                     f'y2="{y(value):.1f}" stroke="#ddd"/>')  # fmt: skip
        parts.append(f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" '
                     f'text-anchor="end">{escape(text(value))}</text>')  # fmt: skip
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">{escape(x_label)}</text>')
    parts.append(f'<text x="4" y="12">{escape(y_label)}</text>')
    parts += [curve_part(curve, place, x, y) for place, curve in enumerate(curves)]
    return "\n".join([*parts, "</svg>"])


def curve_part(
    curve: Curve, place: int, x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    """One curve with its name beside the plot; nothing of one that has no points."""
    if not curve.points:
        return ""
    colour = COLOURS[place // 2 % len(COLOURS)]
    dash = ' stroke-dasharray="5 4"' if curve.dashed else ""
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve.points)
    drawn = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    if curve.dots:
        drawn = "".join(
            f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4" fill="{colour}"/>'
            for a, b in curve.points
        )
    top = TOP + 14 + place * 18
    return (
        f"{drawn}"
        f'<line x1="{WIDTH - RIGHT + 8}" x2="{WIDTH - RIGHT + 30}" y1="{top - 4}" y2="{top - 4}" '
        f'stroke="{colour}" stroke-width="2"{dash}/>'
        f'<text x="{WIDTH - RIGHT + 36}" y="{top}">{escape(curve.name)}</text>'
    )


def log_scale(values: Sequence[float], low: float, high: float) -> Callable[[float], float]:
    """Where a value stands between two ends.

    >>> log_scale([1, 100], 0, 10)(10)
    5.0
    """
    first, last = math.log10(min(values)), math.log10(max(values))
    span = (last - first) or 1.0
    return lambda value: low + (math.log10(value) - first) / span * (high - low)


def decades(values: Sequence[float]) -> list[float]:
    """Round values between the least and the largest: 1, 2 and 5 times a power of ten.

    >>> decades([3, 60])
    [5, 10, 20, 50]
    """
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [step * 10**power for power in powers for step in (1, 2, 5)]
    return [value for value in found if low <= value <= high]

"""Figures over progress as a page of plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.dashboard.draw.plots import Series
from headway.dashboard.early.draw import ProgressPlot, figure_text
from headway.dashboard.early.page import figure
from headway.dashboard.page import document


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot: a value for each point."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """One plot."""

    title: str
    curves: tuple[Curve, ...]

    @classmethod
    def of(cls, title: str, lines: Mapping[str, Sequence[float]]) -> Lines:
        """A plot of named values."""
        return cls(title, tuple(Curve(name, tuple(values)) for name, values in lines.items()))


def write_lines(path: Path, plots: Sequence[Lines]) -> Path:
    """Write the plots to one page that opens anywhere."""
    parts = "".join(figure(over_progress(plot), wide=True) for plot in plots)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        document(
            "How early answers converge", f"<h1>Convergence</h1><div class='plots'>{parts}</div>"
        )
    )
    return path


def over_progress(plot: Lines) -> ProgressPlot:
    """A plot as it is drawn."""
    points = len(plot.curves[0].values)
    shares = tuple((n + 1) / points for n in range(points))
    tips = tuple(
        "\n".join(f"{one.name}: {one.values[n]:.3g}" for one in plot.curves) for n in range(points)
    )
    series = tuple(Series(one.name, f"row{n}", one.values) for n, one in enumerate(plot.curves))
    return ProgressPlot(plot.title, shares, series, figure_text, tips)

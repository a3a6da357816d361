"""Figures over progress are drawn with the names of their lines, whatever these are."""

from __future__ import annotations

from pathlib import Path

from headway.benches.early.curves import Lines, write_lines


def test_each_plot_has_its_title_and_the_names_of_its_lines(tmp_path: Path) -> None:
    plots = [
        Lines.of("Precision", {"k = 10": [0.1, 1.0], "k < 50": [0.2, 1.0]}),
        Lines.of("Error", {"with progress": [1.0, 0.0], "without": [2.0, 1.0]}),
    ]
    page = write_lines(tmp_path / "report" / "convergence.html", plots).read_text()
    assert page.count("<figure") == len(plots)
    for said in ("Precision", "Error", ">k = 10<", ">k &lt; 50<", ">with progress<"):
        assert said in page
    assert "k < 50" not in page

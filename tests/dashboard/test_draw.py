"""Drawings are well-formed and put values where they belong."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.dashboard.distribution import Distribution, distribution_of
from headway.dashboard.draw.histogram import Mark, draw_distribution
from headway.dashboard.draw.plots import NARROW, WIDE, Limit, Series, TimePlot, draw
from headway.dashboard.draw.scales import elapsed_ticks, nice_step, ticks
from headway.measure.latency import Latency
from headway.units import format_duration

SVG = "{http://www.w3.org/2000/svg}"
PLOT = TimePlot(
    title="Latency <of> records & more",
    times_s=(1.0, 2.0, 3.0, 4.0),
    series=(
        Series("p50", "one", (9.0, 0.5, None, 0.7)),
        Series("p99", "two", (9.9, 0.9, None, 1.1), "dots"),
    ),
    text=format_duration,
    tips=("a", "b", "c", 'said "d" & <e>'),
    limit=Limit(2.0, "goal p99 <= 2s"),
    warm_until_s=1.0,
)


@pytest.mark.parametrize("frame", [WIDE, NARROW])
def test_a_plot_is_well_formed_and_says_what_it_shows(frame: object) -> None:
    root = ElementTree.fromstring(draw(PLOT, frame))  # type: ignore[arg-type]
    assert root.find(f"{SVG}title").text == PLOT.title  # type: ignore[union-attr]
    said = json.loads(root.attrib["data-tips"])
    assert said["text"] == list(PLOT.tips)
    assert said["x"] == sorted(said["x"])
    assert "goal p99 <= 2s" in {text.text for text in root.iter(f"{SVG}text")}


def test_the_axis_fits_what_came_after_the_warm_up_and_the_goal() -> None:
    root = ElementTree.fromstring(draw(PLOT, WIDE))
    labels = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "axis end"]
    assert labels[-1] == "2.5s"


def test_a_gap_breaks_the_line() -> None:
    root = ElementTree.fromstring(draw(PLOT, WIDE))
    (path,) = root.iter(f"{SVG}path")
    assert path.attrib["d"].count("M") == 2
    assert len(list(root.iter(f"{SVG}circle"))) == 3


def test_the_goal_is_drawn_above_values_below_it_and_below_values_above_it() -> None:
    root = ElementTree.fromstring(draw(replace(PLOT, warm_until_s=0.0), WIDE))
    (limit,) = (line for line in root.iter(f"{SVG}line") if line.get("class") == "limit")
    tops = [float(dot.attrib["cy"]) for dot in root.iter(f"{SVG}circle")]
    assert tops[0] < float(limit.attrib["y1"]) < tops[1]


def test_a_distribution_adds_up_to_all_records() -> None:
    spread = distribution_of(Latency.of([0.1] * 30 + [0.5] * 60 + [1.9] * 10), show_s=2.0)
    assert sum(spread.shares) == pytest.approx(1.0)
    assert spread.end_s >= 2.0
    drawn = draw_distribution("t", spread, [Mark(0.5, "p50", "one"), Mark(9.0, "off", "two")], WIDE)
    root = ElementTree.fromstring(drawn)
    assert len(list(root.iter(f"{SVG}rect"))) == 3
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert "p50" in texts
    assert "off" not in texts


def test_a_goal_far_beyond_the_records_does_not_squeeze_them() -> None:
    assert distribution_of(Latency.of([0.1, 0.2]), show_s=30.0).end_s < 0.3


def test_no_record_has_no_distribution() -> None:
    assert distribution_of(Latency.none()) == Distribution(1.0, ())
    assert draw_distribution("t", distribution_of(Latency.none()), [], WIDE) == ""


@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=50))
def test_every_record_is_in_some_step(ages_s: list[float]) -> None:
    assert sum(distribution_of(Latency.of(ages_s)).shares) == pytest.approx(1.0)


@given(st.floats(1e-6, 1e9), st.integers(2, 20))
def test_ticks_are_few_and_reach_the_highest_value(high: float, most: int) -> None:
    found = ticks(high, most)
    assert len(found) <= most + 1
    assert found[-1] >= high * (1 - 1e-6)
    assert nice_step(high, most) == pytest.approx(found[1])


@given(st.floats(0.01, 1e7), st.integers(3, 10))
def test_times_along_the_axis_are_few_and_within_the_run(high_s: float, most: int) -> None:
    found = elapsed_ticks(high_s, most)
    assert len(found) <= 2 * most + 1
    assert found[-1] <= high_s * (1 + 1e-6)

"""The live view says what the lines so far say, on a terminal and off it."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from headway.dashboard.live import LiveView, TopAnswers, Watched, picture
from headway.dashboard.live_facts import Gatherer, recent_rate
from headway.flow.goals import parse_goal
from headway.measure.summary import summarise
from headway.testing.logs import made_lines
from tests.waiting import HandClock

GOAL = parse_goal("p99 <= 3s")


def drawn(watched: Watched, batches: int, top: TopAnswers | None = None) -> str:
    console = Console(file=StringIO(), width=100)
    facts = Gatherer(watched.goal, watched.warmup).take(made_lines(60)[:batches])
    console.print(picture(watched, facts, 31.0, top))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_facts_gathered_bit_by_bit_equal_the_summary_of_the_whole() -> None:
    lines = made_lines(40)
    gatherer = Gatherer(GOAL, warmup=3)
    for upto in (0, 1, 2, 17, 17, 40):
        facts = gatherer.take(lines[:upto])
    whole = summarise(lines, warmup=3)
    assert facts.per_record.as_dict() == whole.latency.as_dict()
    assert facts.per_window.as_dict() == whole.window_latency.as_dict()
    assert facts.records == sum(line.rows for line in lines)
    assert facts.warm
    assert facts.verdict.met


def test_the_rate_is_that_of_the_last_seconds() -> None:
    assert recent_rate(made_lines(60)) == pytest.approx(2000, rel=0.1)
    assert recent_rate(made_lines(1)) == recent_rate([]) == 0.0


def test_the_picture_shows_figures_goal_and_top_answers() -> None:
    top = TopAnswers("top words", (("[spark]", 1200), ("of", 3)))
    text = drawn(Watched("Words", GOAL, length_s=60.0, warmup=3), 60, top)
    for part in ("31 of 60 s", "goal p99 <= 3s met", "p99 so far", "[spark]", "1,200", "waiting"):
        assert part in text


def test_the_picture_says_why_there_is_nothing_to_see_yet() -> None:
    assert "Spark is starting" in drawn(Watched("Words", GOAL), 0)
    assert "first 3 batches are warm-up" in drawn(Watched("Words", GOAL, warmup=3), 2)
    assert "no goal was set" in drawn(Watched("Words"), 5)


def test_off_a_terminal_there_is_a_plain_line_every_few_seconds() -> None:
    clock, out = HandClock(), StringIO()
    with LiveView(Watched("Words", GOAL), Console(file=out, width=40), clock) as view:
        for batches in range(21):
            view.show(made_lines(20)[:batches])
            clock.sleep(0.5)
    said = out.getvalue().splitlines()
    assert len(said) == 2
    assert said[1].startswith("10s: 20 batches, ")
    assert "\x1b" not in out.getvalue()


def test_beside_answers_on_the_same_terminal_there_are_lines_too() -> None:
    clock, out = HandClock(), StringIO()
    console = Console(file=out, width=100, force_terminal=True)
    with LiveView(Watched("Words", drawn=False), console, clock) as view:
        clock.sleep(6.0)
        view.show(made_lines(20))
    assert out.getvalue().startswith("6s: 20 batches")


def test_on_a_terminal_the_view_is_drawn_in_place_and_taken_away() -> None:
    out = StringIO()
    console = Console(file=out, width=100, force_terminal=True)
    with LiveView(Watched("Words", GOAL), console, HandClock()) as view:
        view.show(made_lines(20))
    assert "records per second" in out.getvalue()
    assert "\x1b[2K" in out.getvalue()

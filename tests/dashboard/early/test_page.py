"""The page of a question holds its answers over progress, and asks nothing of a network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from headway.dashboard.early.asked import AnsweredPoint, Asked, Curve
from headway.dashboard.early.page import page_of, write_page
from tests.dashboard.test_write_report import Page

ASKED = Asked(
    sql="SELECT a, s FROM t WHERE s < 3",
    ending="the final answer, over all tuples",
    points=3,
    answered=tuple(AnsweredPoint(n, (n + 1) / 3, 0.5 * n, n + 1) for n in range(3)),
    measure="s",
    curves=(Curve("<x>", (1.0, -2.0, 2.5)), Curve("y", (None, 3e6, 3.1e6))),
    columns=("a", "s"),
    rows=(("<x>", "2.5"), ("y", "3100000")),
    rules="scan: t",
)


def drawings(page: Page) -> list[str]:
    return [attrs["data-tips"] or "" for _, attrs in page.tags if "data-tips" in attrs]


def test_the_page_shows_the_question_the_plots_and_the_answer(tmp_path: Path) -> None:
    page = Page(write_page(ASKED, tmp_path / "new" / "ask.html").read_text())
    assert not page.open
    captions = ["How s converged", "Rows per answer", "When each point was answered"]
    for words in [*captions, "SELECT a, s FROM t WHERE s < 3", "3 of 3", "scan: t",
                  "The answer: the final answer", "and 1 more rows"]:  # fmt: skip
        assert words in page.words
    assert len(drawings(page)) == 2 * len(captions)
    assert "point 2, 66.7%\\n<x>: -2\\ny: 3e+06" in drawings(page)[0]


def test_the_page_asks_nothing_of_a_network() -> None:
    for tag, attrs in Page(page_of(ASKED)).tags:
        assert tag not in ("link", "img", "iframe")
        assert not {"src", "href"} & attrs.keys()


def test_answers_without_numbers_or_rows_are_drawn_all_the_same() -> None:
    answered = (AnsweredPoint(0, 1.0, 0.0, 0),)
    page = Page(page_of(replace(ASKED, answered=answered, curves=(), rows=())))
    assert "converged" not in page.words
    assert len(drawings(page)) == 4

"""The report is one file that holds the figures of its log and asks nothing of a network."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from headway.dashboard.about import RunAbout, load_about
from headway.dashboard.page import page_of
from headway.dashboard.report import write_report
from headway.errors import RunError
from headway.keep.decisions import DECISIONS, Audit, Decision, write_decision
from headway.measure.account import Account
from headway.measure.batches import BatchLine
from headway.measure.phases import MICRO_BATCH, Phase
from headway.measure.summary import account_of
from headway.model.candidate import Candidate
from headway.testing.logs import START_S, made_line, made_lines

VOID = {"meta", "br", "line", "rect", "path", "circle"}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)


class Page(HTMLParser):
    """Collects a page's text and tags, and sees that every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words += data + "\n"


def about(lines: list[BatchLine], goal: str | None = "p99 <= 3s") -> RunAbout:
    ended_s = lines[-1].published_s if lines else START_S
    return RunAbout("Words <in> tweets", "source tweets\nsink <top>", goal, "runs/one", START_S,
                    ended_s, 3, account_of(lines))  # fmt: skip


def written(lines: list[BatchLine], folder: Path, goal: str | None = "p99 <= 3s") -> Page:
    return Page(write_report(lines, about(lines, goal), folder / "a" / "r.html").read_text())


def test_the_headline_says_what_ran_and_whether_the_goal_was_met(tmp_path: Path) -> None:
    lines = made_lines(60)
    page = written(lines, tmp_path)
    assert not page.open
    assert "Words <in> tweets" in page.words
    assert "goal p99 <= 3s met: p99 was" in page.words
    assert str(account_of(lines)) in page.words
    assert "The first 3 batches are the warm-up" in page.words


def test_a_missed_goal_is_said_in_words_and_not_by_colour_alone(tmp_path: Path) -> None:
    page = written(made_lines(30), tmp_path, "p99 <= 100ms")
    assert "✗ goal p99 <= 100ms missed" in page.words


def test_every_plot_and_every_batch_is_there(tmp_path: Path) -> None:
    page = written(made_lines(60), tmp_path)
    captions = [
        "Latency of records, by batch",
        "Latency of records, all batches together",
        "Latency of windows, when they closed",
        "Records per batch",
        "Time a batch took, and the interval set for it",
        "Records waiting when a batch was published",
        "Records quarantined, by batch",
        "Where the time of an answer went, by batch",
    ]
    for caption in captions:
        assert caption in page.words
    drawings = [attrs for tag, attrs in page.tags if "data-tips" in attrs]
    assert len(drawings) == 2 * len(captions)
    assert sum(tag == "tr" for tag, _ in page.tags) == 1 + 60 + 1 + len(MICRO_BATCH)
    assert "load rose: interval 0.8s" in page.words


def test_the_page_asks_nothing_of_a_network(tmp_path: Path) -> None:
    page = written(made_lines(12), tmp_path)
    for tag, attrs in page.tags:
        assert tag not in ("link", "img", "iframe")
        assert "src" not in attrs
        assert "href" not in attrs


def test_a_window_goal_is_drawn_on_the_windows_plot(tmp_path: Path) -> None:
    page = written(made_lines(40), tmp_path, "p99 <= 2s per window")
    assert "goal p99 <= 2s per window met" in page.words
    assert page.words.count("goal p99 <= 2s per window\n") == 2


def test_each_query_has_its_own_part(tmp_path: Path) -> None:
    page = written(made_lines(9, query="a") + made_lines(9, query="b"), tmp_path)
    assert "Query a" in page.words
    assert "Query b" in page.words


def test_a_run_that_changed_its_mode_shows_the_phases_of_both(tmp_path: Path) -> None:
    spent = {"pause": Phase.same(0.02).as_dict(), "fetch": Phase.same(0.08).as_dict()}
    quick = made_line(np.full(10, 0.1), START_S + 99, batch=60, phases=spent)
    lines = [*made_lines(60), quick]
    text = page_of(lines, about(lines))
    for name in ("around p99", ">pause<", ">reduce<"):
        assert name in text


def test_a_run_of_many_batches_stays_a_small_page(tmp_path: Path) -> None:
    lines = made_lines(1_000)
    page = written(lines, tmp_path)
    assert "1,000 batches are drawn as" in page.words
    assert "The first 500 batches are in the log only." in page.words
    assert (tmp_path / "a" / "r.html").stat().st_size < 1_500_000


def test_a_run_without_batches_or_goal_still_has_a_report(tmp_path: Path) -> None:
    page = written([], tmp_path, goal=None)
    assert "published no batch" in page.words
    assert "no goal was set" in page.words


def test_the_facts_of_a_run_are_read_back(tmp_path: Path) -> None:
    lines = made_lines(4)
    facts = about(lines)
    facts.save(tmp_path)
    assert load_about(tmp_path, lines) == facts


def test_a_run_that_was_cut_short_ends_with_its_log(tmp_path: Path) -> None:
    lines = made_lines(4)
    cut = replace(about(lines), ended_s=START_S, account=Account())
    cut.save(tmp_path)
    assert load_about(tmp_path, lines) == about(lines)


def test_a_run_that_no_command_started_is_known_by_its_log(tmp_path: Path) -> None:
    lines = made_lines(4)
    found = load_about(tmp_path, lines)
    assert (found.title, found.goal, found.warmup) == (tmp_path.name, None, 0)
    assert found.account == account_of(lines)
    assert found.ended_s == lines[-1].published_s


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not the folder of a run"):
        load_about(tmp_path, [])
    (tmp_path / "about.json").write_text("{}")
    with pytest.raises(RunError, match="does not read"):
        load_about(tmp_path, made_lines(2))


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here to open the page in")
def test_a_browser_shows_the_plots_and_the_tip_under_the_pointer(tmp_path: Path) -> None:
    path = write_report(made_lines(20), about(made_lines(20)), tmp_path / "r.html")
    probe = """<script>
      const seen = [...document.querySelectorAll("svg.plot")].filter((p) => p.clientWidth > 0);
      const box = seen[0].getBoundingClientRect();
      seen[0].dispatchEvent(new PointerEvent("pointermove", {clientX: box.right - 14}));
      const tip = seen[0].closest("figure").querySelector(".tip");
      const wide = document.documentElement.scrollWidth > window.innerWidth;
      const said = {plots: seen.length, tip: tip.textContent, shown: tip.style.visibility, wide};
      document.body.dataset.said = JSON.stringify(said);
    </script></body>"""
    path.write_text(path.read_text().replace("</body>", probe))
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [str(BROWSER), *FLAGS.split(), profile, "--dump-dom", path.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    said = json.loads(dict(Page(dom).tags)["body"]["data-said"] or "")
    assert said["plots"] == 8
    assert "batch 19" in said["tip"]
    assert said["shown"] == "visible"
    assert not said["wide"]


def test_a_report_tells_what_the_keeper_decided_and_why(tmp_path: Path) -> None:
    lines = made_lines(20)
    facts = replace(about(lines), folder=str(tmp_path))
    assert "Decisions" not in page_of(lines, facts)
    candidate = Candidate("micro-batch", interval_s=0.2)
    audit = Audit(0.5, 0.4, 0.6, 0.9)
    for made in (
        Decision(lines[5].published_s, 900.0, "change", "more <records> came", candidate, 0.4),
        Decision(lines[9].published_s, 900.0, "keep", "it is kept", candidate, 0.5, audit),
    ):
        write_decision(tmp_path / DECISIONS, made)
    page = page_of(lines, facts)
    assert "2 times it was looked" in page
    assert "1 changes" in page
    assert "more &lt;records&gt; came" in page
    assert "0 of 1 predictions held" in page
    assert "measured 0.9 s, not as expected" in page

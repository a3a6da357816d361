"""What Prometheus scrapes: counters that only grow, a histogram that adds up, over real HTTP."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from headway.errors import RunError
from headway.measure.batches import BatchLine
from headway.measure.prometheus import Exporter, Totals, exposition
from headway.testing.logs import made_lines

LINE = re.compile(r'^[a-z_]+(\{([a-z]+="[^"]*",?)*\})? -?[0-9.e+-]+$')


@pytest.fixture
def lines() -> list[BatchLine]:
    return made_lines(30)


@pytest.fixture
def exporter(lines: list[BatchLine]) -> Iterator[Exporter]:
    found = Exporter(0, lambda: lines)
    yield found
    found.close()


def scrape(exporter: Exporter, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{exporter.port}{path}") as page:
        assert page.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return str(page.read().decode())


def value_of(text: str, start: str) -> float:
    (found,) = (line for line in text.splitlines() if line.startswith(start))
    return float(found.rsplit(" ", 1)[1])


def test_each_line_has_the_text_form(exporter: Exporter) -> None:
    text = scrape(exporter)
    assert all(line.startswith("# ") or LINE.match(line) for line in text.splitlines())
    assert text.endswith("\n")


def test_the_histogram_counts_every_record(exporter: Exporter, lines: list[BatchLine]) -> None:
    text = scrape(exporter)
    rows = sum(line.rows for line in lines)
    assert value_of(text, "headway_latency_seconds_count") == pytest.approx(rows, abs=1)
    assert value_of(text, 'headway_latency_seconds_bucket{query="counts",le="+Inf"}') == rows
    whole = sum(line.rows * line.latency["mean"] for line in lines)
    assert value_of(text, "headway_latency_seconds_sum") == pytest.approx(whole)
    spent = sum(line.rows * line.phases["map"]["mean"] for line in lines)
    found = value_of(text, 'headway_phase_seconds_total{query="counts",phase="map"}')
    assert found == pytest.approx(spent)


def test_counters_count_a_batch_once_and_never_shrink(lines: list[BatchLine]) -> None:
    totals = Totals()
    for upto in (10, 20, 20, 30):
        totals.take(lines[max(0, upto - 12) : upto])  # what memory holds is only the end
    text = exposition(lines, totals)
    assert value_of(text, "headway_batches_total") == 30


def test_where_records_are_is_told(exporter: Exporter, lines: list[BatchLine]) -> None:
    found = value_of(scrape(exporter), 'headway_records{query="counts",fate="waiting"}')
    assert found == lines[-1].account["waiting"]


def test_another_page_is_not_there(exporter: Exporter) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        scrape(exporter, "/else")


def test_a_port_that_is_taken_is_named(exporter: Exporter) -> None:
    with pytest.raises(RunError, match=rf"port {exporter.port} is taken.*--metrics-port"):
        Exporter(exporter.port, list)

"""Made clicks: the users that were asked for, pages of one site, and mostly good answers."""

from __future__ import annotations

from collections import Counter

from headway.workloads.makers.clicks import STATUS_OF_BYTE, Clicks


def test_every_user_clicks_about_equally_often_by_default() -> None:
    counts = Counter(Clicks(keys=20).make(0, 100_000).column("user").to_pylist())
    assert len(counts) == 20
    assert max(counts.values()) < 1.1 * min(counts.values())


def test_an_exponent_makes_some_users_busier() -> None:
    counts = Counter(Clicks(keys=20, exponent=1.0).make(0, 100_000).column("user").to_pylist())
    assert counts["user0"] > 10 * counts["user19"] > 0


def test_every_status_has_its_share_of_the_256_values_of_a_byte() -> None:
    assert len(STATUS_OF_BYTE) == 256
    counts = Counter(Clicks().make(0, 100_000).column("status").to_pylist())
    assert set(counts) == {200, 302, 304, 404, 500}
    assert abs(counts[200] / 100_000 - 225 / 256) < 0.01


def test_urls_are_paths() -> None:
    urls = Clicks().make(0, 10_000).column("url").to_pylist()
    assert all(url.startswith("/") and " " not in url for url in urls)
    assert 100 < len(set(urls)) < 1_000

"""Phases are disjoint and add up to the latency, whatever Spark's figures are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.measure.latency import Latency
from headway.measure.phases import (
    MICRO_BATCH,
    UNEXPLAINED,
    Phase,
    Timeline,
    fitted,
    mean_phases,
    micro_batch_phases,
    split_at,
    unexplained_share,
)

seconds = st.floats(0, 30)
spans_us = st.integers(0, 20_000_000)
known = st.dictionaries(st.sampled_from(["offsets", "planning"]), seconds)
inner = st.dictionaries(st.sampled_from(["launch", "map", "fetch", "reduce", "collect"]), seconds)


@given(
    st.lists(seconds, min_size=1, max_size=50),
    seconds,
    st.tuples(spans_us, spans_us, spans_us),
    known,
    inner,
)
def test_the_phases_of_a_micro_batch_add_up_to_its_latency(
    ages: list[float],
    since_last_s: float,
    spans: tuple[int, int, int],
    before: dict[str, float],
    within: dict[str, float],
) -> None:
    called, computed, published = np.cumsum(spans).tolist()
    timeline = Timeline(0, called, computed, published, before, within)
    found = micro_batch_phases(Latency.of(ages), since_last_s, timeline)
    assert list(found) == list(MICRO_BATCH)
    assert all(phase.mean_s >= -1e-9 for phase in found.values())
    wanted = sum(ages) / len(ages) + published / 1e6
    assert sum(phase.mean_s for phase in found.values()) == pytest.approx(wanted, abs=1e-6)


def test_what_a_record_waited_behind_the_batch_before_is_its_queue() -> None:
    queued, waited = split_at(Latency.of([0.1, 0.5, 2.0]), 0.5)
    assert queued.mean_s == pytest.approx(0.5)  # 0, 0 and 1.5
    assert waited.mean_s == pytest.approx((0.1 + 0.5 + 0.5) / 3)
    assert [part.count for part in split_at(Latency.none(), 1.0)] == [0, 0]


def test_what_nothing_accounts_for_is_said() -> None:
    timeline = Timeline(0, 100_000, 500_000, 600_000, {"offsets": 0.02}, {"map": 0.3})
    found = micro_batch_phases(Latency.of([0.0]), 1.0, timeline)
    assert found[UNEXPLAINED] == Phase.same(pytest.approx(0.18))  # type: ignore[arg-type]
    means = {name: phase.mean_s for name, phase in found.items()}
    assert unexplained_share(means) == pytest.approx(0.3)


def test_parts_are_never_more_than_the_whole() -> None:
    assert sum(fitted({"a": 3.0, "b": 1.0}, 2.0).values()) == pytest.approx(2.0)
    assert fitted({}, 2.0) == {}
    assert fitted({"a": 0.0}, 0.0) == {"a": 0.0}


def test_means_weigh_batches_by_their_records() -> None:
    lines = [(1, {"map": {"mean": 1.0}}), (3, {"map": {"mean": 2.0}}), (0, {}), (5, {})]
    assert mean_phases(lines) == {"map": 1.75}
    assert mean_phases([]) == {}
    assert unexplained_share({}) == 0.0

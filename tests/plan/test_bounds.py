"""Closed formulas beside a prediction: bounds that hold, and sentences only where they apply."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.model.candidate import Candidate, Load
from headway.model.predict import predict
from headway.model.quantiles import cantelli_s
from headway.model.service import Service
from headway.plan.bounds import bounds_text, clocked_text, window_text
from tests.model.profiles import batch_costs, profile


@pytest.mark.parametrize("interval_s", [0.0, 0.3, 1.0])
def test_no_prediction_exceeds_what_any_shape_allows(interval_s: float) -> None:
    candidate = Candidate("micro-batch", 1, 2, 2, 2, interval_s=interval_s)
    ratios = tuple(0.7 + 0.02 * n for n in range(40))
    found = predict(replace(profile(), batch=batch_costs(ratios)), candidate, Load(20_000.0, 0.0))
    most = cantelli_s(0.99, found.mean_s, found.variance_s2)
    assert found.quantile_s(0.99) <= most
    assert f"{most:.3f} s at most" in bounds_text(found)


def test_a_queue_behind_a_clock_is_told_where_there_is_a_clock() -> None:
    known = profile()

    def told(interval_s: float, rate: float) -> list[str]:
        candidate = Candidate("micro-batch", 1, 2, 2, 2, interval_s=interval_s)
        found = predict(known, candidate, Load(rate, 0.0))
        return clocked_text(Service.of(known, [candidate]), found)

    assert told(0.0, 1_000.0) == []
    assert "would queue for 0.000 s" in told(1.0, 1_000.0)[0]
    assert "longer and longer" in told(0.1, 1_000.0)[0]


def test_windows_are_told_of_where_a_flow_has_some() -> None:
    candidate = Candidate("micro-batch", 1, 2, 2, 2, interval_s=0.5)
    for answering, lines in ((1.0, 0), (0.2, 1)):
        known = replace(profile(), batch=replace(batch_costs(), answering=answering))
        found = predict(known, candidate, Load(5_000.0, 0.0))
        assert len(window_text(known, Service.of(known, [candidate]), found)) == lines

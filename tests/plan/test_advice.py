"""Advice follows from figures, the most pressing first, and none is given without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headway.measure.watched import Watched, WatchedBatch, batch_phases
from headway.plan.advice import CHANGELOG, PARTITIONS, PROVIDER, advise

QUICK = {"map": 0.4, "reduce": 0.4, "offsets": 0.05, "state": 0.05, "unexplained": 0.0}
ROCKS = {PROVIDER: "org.example.RocksDBStateStoreProvider", CHANGELOG: "true"}


def seen(phases: dict[str, float] | None = None, **fields: Any) -> Watched:
    """A query whose batches all look like this."""
    settings, cores = fields.pop("settings", ROCKS), fields.pop("cores", 2)
    own = {"idle_s": 0.5, "rows": 1_000, "per_s": (1_000.0, 1_500.0)} | fields
    spent = phases or QUICK
    one = WatchedBatch(0, 0.0, sum(spent.values()), phases_s=spent, **own)
    return Watched(
        "q", [replace(one, batch=n, started_s=float(n)) for n in range(5)], settings, cores
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (seen(per_s=(2_000.0, 1_200.0)), "falls behind: 2,000 records/s come in and 1,200"),
        (
            seen(QUICK | {"state": 0.6}, settings={PROVIDER: "org.example.HDFSBacked"}),
            "to RocksDB's",
        ),
        (seen(QUICK | {"state": 0.6}, settings=ROCKS | {CHANGELOG: "false"}), f"{CHANGELOG}=true"),
        (seen(settings=ROCKS | {PARTITIONS: "200"}), "200 on 2 cores"),
        (seen(QUICK | {"planning": 1.5}), "65% of a batch of 2.4s is spent on what every batch"),
        (seen(idle_s=0.0), "never rests between batches of 900ms"),
        (seen(QUICK | {"unexplained": 3.0}), "77% of a batch cannot be told apart"),
        (seen(), "nothing stands out: a batch takes 900ms, most of it in 'map'"),
    ],
    ids=lambda value: "" if isinstance(value, Watched) else str(value)[:20],
)
def test_the_first_sentence_is_what_the_figures_support(query: Watched, said: str) -> None:
    assert said in advise(query)[0]


def test_a_query_that_keeps_up_is_not_said_to_fall_behind() -> None:
    assert not any("behind:" in sentence for sentence in advise(seen()))


def test_nothing_is_said_of_a_few_batches() -> None:
    few = replace(seen(), batches=seen().batches[:2])
    assert advise(few) == ["only 2 batches were seen; watch it for longer to judge it"]


def test_the_phases_of_a_batch_add_up_to_it() -> None:
    durations = {"latestOffset": 30, "walCommit": 20, "queryPlanning": 50, "addBatch": 300}
    found = batch_phases(durations, {"map": 0.2, "reduce": 0.3}, 0.5)
    assert sum(found.values()) == pytest.approx(0.5)
    assert found["source"] == 0.03
    assert found["map"] == pytest.approx(0.12)  # stages may not take more than the batch had
    assert found["unexplained"] == pytest.approx(0.1)

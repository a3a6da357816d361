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
    grows = fields.pop("grows", 1.0)
    own = {"idle_s": 0.5, "rows": 1_000, "staged": True} | fields
    spent = phases or QUICK
    one = WatchedBatch(0, 0.0, sum(spent.values()), phases_s=spent, **own)
    batches = [
        replace(one, batch=n, started_s=float(n), rows=round((one.rows or 0) * grows**n),
                took_s=one.took_s * grows**n)
        for n in range(6)
    ]  # fmt: skip
    return Watched("q", batches, settings, cores)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            seen(idle_s=0.0, grows=1.2),
            "falls behind: its batches follow upon each other and have grown",
        ),
        (
            seen(QUICK | {"state": 0.6}, settings={PROVIDER: "org.example.HDFSBacked"}),
            "to RocksDB's",
        ),
        (seen(QUICK | {"state": 0.6}, settings=ROCKS | {CHANGELOG: "false"}), f"{CHANGELOG}=true"),
        (seen(tasks=200), "each batch starts 200 tasks on 2 cores"),
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
    for query in (seen(), seen(idle_s=0.0), seen(grows=1.2)):
        assert not any("behind:" in sentence for sentence in advise(query))


def test_a_query_without_a_shuffle_is_not_told_of_tasks_that_it_does_not_start() -> None:
    told = advise(seen(settings=ROCKS | {PARTITIONS: "200"}, tasks=0))
    assert not any("tasks" in sentence for sentence in told)


def test_batches_whose_stages_were_not_seen_do_not_dilute_those_that_were() -> None:
    dark = WatchedBatch(9, 9.0, 0.9, phases_s={"unexplained": 0.9})
    query = seen(QUICK | {"state": 0.9}, settings=ROCKS | {CHANGELOG: "false"})
    diluted = replace(query, batches=[*query.batches, *([dark] * 20)])
    assert diluted.share("state") == pytest.approx(query.share("state"))


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

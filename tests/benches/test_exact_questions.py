"""Which questions a run of the exactness benchmark asks."""

from __future__ import annotations

import random

from headway.benches.early.exact import BEYOND_TPCH, QUICK, asked_of
from headway.benches.early.questions import all_questions
from headway.benches.options import BenchOptions
from headway.workloads.tpch.queries import NAMES


def test_a_default_run_asks_all_of_tpch_and_draws_others_and_a_full_one_asks_everything() -> None:
    asked = [asked_of(BenchOptions(seed=seed), random.Random(seed)) for seed in (0, 0, 1)]
    assert asked[0] == asked[1] != asked[2]
    names = [one.name for one in asked[0]]
    assert names[: len(NAMES)] == list(NAMES)
    assert len(set(names)) == len(NAMES) + BEYOND_TPCH
    assert asked_of(BenchOptions(full=True), random.Random(0)) == all_questions()
    assert len(asked_of(BenchOptions(quick=True), random.Random(0))) == QUICK

"""What the benchmark of pairs makes of its measurements, and which answers it accepts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headway.benches.options import BenchOptions
from headway.benches.pairs import (
    BATCHED,
    FEWEST_ROWS,
    MOST_ROWS,
    OURS,
    Case,
    Measured,
    RunningCount,
    RunningCountByBatch,
    cases_of,
    check_answers,
    figures_of,
    rows_in,
)
from headway.engine.stock.backlog import Backlog
from headway.engine.stock.counts import INTERFACES
from headway.engine.stock.ratios import Rounds
from headway.errors import RunError
from headway.workloads.makers.keyed import Keyed

BACKLOG = Backlog(Keyed(keys=3), 30, 10, ("key",))


def truth() -> list[tuple[str, int]]:
    states: dict[str, int] = {}
    keys = BACKLOG.maker.make(0, BACKLOG.count).column("key").to_pylist()
    told = RunningCountByBatch().update_batch([0.0] * len(keys), keys, [None] * len(keys), states)
    return [(key, n) for _, key, n in told]


def table(rows: list[tuple[str, int]]) -> pa.Table:
    return pa.table({"key": [key for key, _ in rows], "n": [n for _, n in rows]})


def test_right_answers_are_accepted_in_any_order() -> None:
    check_answers("who", table(truth()[::-1]), BACKLOG)


@pytest.mark.parametrize("spoil", ["lost", "twice", "wrong"])
def test_answers_that_are_lost_doubled_or_wrong_are_refused(spoil: str) -> None:
    rows = truth()
    if spoil == "lost":
        rows = rows[:-1]
    elif spoil == "twice":
        rows = [*rows[1:], rows[1]]
    else:
        rows[0] = (rows[0][0], 1_000)
    with pytest.raises(RunError):
        check_answers("who", table(rows), BACKLOG)


def test_both_pairs_tell_the_same() -> None:
    pair, states = RunningCount(), {}
    told: list[tuple[str, int]] = []
    for key in BACKLOG.maker.make(0, BACKLOG.count).column("key").to_pylist():
        states[key], out = pair.update(0.0, key, None, states.get(key, pair.init(key)))
        told += [(key, n) for _, key, n in out]
    assert told == truth()


def test_the_headline_is_the_rate_against_that_of_the_fastest_interface() -> None:
    slow, middling, fast = INTERFACES
    seconds = {OURS: [2.0, 4.0], BATCHED: [1.0, 2.0]}
    seconds |= {slow: [60.0, 60.0], middling: [20.0, 20.0], fast: [6.0, 12.0]}
    rows = {OURS: 1_000, BATCHED: 1_000} | dict.fromkeys(INTERFACES, 100)
    case = Case(5_000, Rounds(1, 1, 1), Rounds(1, 2, 3))
    figures = figures_of({"5000": Measured(rows, seconds)}, [case], {})
    assert figures["best_stock"] == {"5000": fast}
    assert figures["ratio_vs_best_stock"] == {"5000": 30.0}
    assert figures["ratio_with_update_batch"] == {"5000": 60.0}
    assert figures["ratio_vs_each"]["5000"][slow] == 225.0
    assert figures["rows_per_s"]["5000"][fast] == 37.5
    assert figures["batch_s"]["5000"][slow] == 20.0


def test_an_interface_that_cannot_run_here_is_left_out_and_named() -> None:
    slow, *others = INTERFACES
    found = Measured({OURS: 9, BATCHED: 9, slow: 9}, {OURS: [1.0], BATCHED: [1.0], slow: [9.0]})
    left_out = dict.fromkeys(others, "not installed")
    case = Case(200, Rounds(1, 1, 1), Rounds(1, 1, 1))
    figures = figures_of({"200": found}, [case], left_out)
    assert figures["best_stock"] == {"200": slow}
    assert figures["left_out"] == left_out


def test_a_batch_has_as_many_rows_as_fit_its_time() -> None:
    assert rows_in(1.0, (1_000, 1.5), (5_000, 4.0)) == FEWEST_ROWS
    assert rows_in(1.0, (1_000, 0.5), (5_000, 0.4)) == MOST_ROWS
    assert rows_in(1.0, (1_000, 0.5), (5_000, 1.0)) == 5_000


@pytest.mark.parametrize(("quick", "keys"), [(True, [5_000]), (False, [200, 5_000, 100_000])])
def test_the_cases_have_the_numbers_of_keys_that_goals_are_set_for(
    quick: bool, keys: list[int]
) -> None:
    assert [case.keys for case in cases_of(BenchOptions(quick=quick))] == keys

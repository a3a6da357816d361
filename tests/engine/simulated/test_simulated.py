"""The simulated engine: where theory and the model know the answer, it finds the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headway as hw
from headway.engine.reference.run import Arrived, Outcome, one_by_one, run_flow
from headway.engine.simulated.run import Simulated, answers_of, simulate
from headway.engine.simulated.world import Machines, Traffic
from headway.errors import PlanError
from headway.flow.rates import parse_rate
from headway.flow.stream import Stream
from headway.measure.costs.profile import JobProfile
from headway.measure.costs.stores import STORES
from headway.measure.moments import between_arrivals
from headway.measure.phases import MICRO_BATCH, mean_phases
from headway.model.candidate import Candidate, Load
from headway.model.predict import predict
from tests.model.profiles import LANES, batch_costs, profile, stored

HALF = Candidate("micro-batch", 1, 2, 2, 2, interval_s=0.5)
STREAM = Candidate("real-time", 1, 2, 1, 1, checkpoint_s=10.0)
NOISY = JobProfile("f", LANES, batch_costs(tuple(0.8 + n / 80 for n in range(33))))


def traffic(rate: float, **more: Any) -> Traffic:
    return Traffic(parse_rate(rate), **more)


def ran(candidate: Candidate, rate: float, seconds: float = 60.0, **more: Any) -> Simulated:
    return simulate(NOISY, candidate, traffic(rate), seconds, **more)


@pytest.mark.parametrize("interval_s", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("rate", [200.0, 20_000.0])
def test_batches_are_as_late_as_the_model_says(rate: float, interval_s: float) -> None:
    candidate = replace(HALF, interval_s=interval_s)
    seen = ran(candidate, rate).latency(after_s=5.0)
    foretold = predict(NOISY, candidate, Load(rate, 0.0))
    assert seen.mean_s == pytest.approx(foretold.mean_s, rel=0.05)
    assert seen.quantile(0.99) == pytest.approx(foretold.quantile_s(0.99), rel=0.08)


def test_every_record_is_answered_and_phases_add_up() -> None:
    found = ran(HALF, 1_000.0)
    assert found.answered == found.records >= 60_000
    for line in found.lines:
        whole_s = sum(phase["mean"] for phase in line.phases.values())
        assert whole_s == pytest.approx(line.latency["mean"], rel=0.01)
    assert set(found.lines[0].phases) == set(MICRO_BATCH)
    means = mean_phases((line.rows, line.phases) for line in found.lines)
    assert means["map"] > means["publish"] > 0


def test_the_same_seed_gives_the_same_run_and_another_does_not() -> None:
    first, again = (simulate(NOISY, HALF, traffic(100.0), 20.0) for _ in range(2))
    other = simulate(NOISY, HALF, traffic(100.0, seed=1), 20.0)
    assert first.lines == again.lines
    assert first.lines != other.lines


def test_stragglers_hold_a_batch_up() -> None:
    slow = Machines(slow_share=0.2, slow_times=5.0)
    calm, held = ran(HALF, 1_000.0), ran(HALF, 1_000.0, machines=slow)
    assert held.latency().quantile(0.9) > 1.2 * calm.latency().quantile(0.9)


def test_a_hot_key_makes_one_reducer_late() -> None:
    even, skewed = (
        simulate(NOISY, HALF, traffic(200.0, keys=1_000, exponent=e), 30.0) for e in (0.0, 3.0)
    )
    share = traffic(1.0, keys=1_000, exponent=3.0).shares(2)
    assert share.max() > 0.8
    assert mean_of(skewed, "reduce") > mean_of(even, "reduce")


def mean_of(run: Simulated, phase: str) -> float:
    return mean_phases((line.rows, line.phases) for line in run.lines)[phase]


def test_more_nodes_carry_what_one_cannot() -> None:
    one = simulate(NOISY, HALF, traffic(1_500_000.0), 5.0)
    four = simulate(NOISY, replace(HALF, nodes=4, mappers=8, reducers=8), traffic(1_500_000.0), 5.0)
    assert four.latency().mean_s < 0.5 * one.latency().mean_s


def test_a_slow_network_is_seen_between_nodes_only() -> None:
    costs = NOISY.batch
    chatty = replace(NOISY, batch=replace(costs, shuffle_bytes=costs.task_s.faded(1.0)))
    wide = replace(HALF, nodes=2, mappers=4, reducers=4)
    slow = Machines(link_mb_per_s=1e-9)
    assert mean_of(simulate(chatty, HALF, traffic(100.0), 5.0, slow), "fetch") == 0.0
    assert mean_of(simulate(chatty, wide, traffic(100.0), 5.0, slow), "fetch") > 0.0


def test_arrivals_by_chance_are_a_poisson_stream() -> None:
    found = simulate(NOISY, HALF, traffic(500.0, poisson=True), 60.0)
    assert found.answered == found.records
    made = traffic(500.0, poisson=True).arrivals_s(60.0, np.random.default_rng(0))
    assert between_arrivals([(made * 1e6).astype(np.int64)]).variation == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("rate", [500.0, 2_500.0])
def test_real_time_mode_is_as_late_as_the_model_says(rate: float) -> None:
    known = profile()
    seen = simulate(known, STREAM, traffic(rate), 40.0).latency(after_s=10.0)
    foretold = predict(known, STREAM, Load(rate, 0.0))
    assert seen.mean_s == pytest.approx(foretold.mean_s, rel=0.2)
    assert seen.quantile(0.5) == pytest.approx(foretold.quantile_s(0.5), rel=0.2)
    assert seen.quantile(0.99) == pytest.approx(foretold.quantile_s(0.99), rel=0.25)


def test_what_a_profile_does_not_know_is_not_simulated() -> None:
    with pytest.raises(PlanError, match="says nothing of real-time"):
        simulate(NOISY, STREAM, traffic(1.0), 1.0)


def test_a_topic_without_records_ends_at_once() -> None:
    assert simulate(NOISY, HALF, traffic(0.001), 0.0).records <= 1


def records(count: int) -> list[dict[str, Any]]:
    return [{"user": f"u{n % 7}", "n": n % 5} for n in range(count)]


def windows(source: Stream) -> Stream:
    return source.key("user").window("2s").reduce(n="count(*)", s="sum(n)")


def filtered(source: Stream) -> Stream:
    return source.filter("n > 1").map("user", "n * 2 AS m")


def counts(source: Stream) -> Stream:
    return source.key("user").reduce(n="count(*)")


@pytest.mark.parametrize("build", [windows, filtered, counts], ids=lambda b: b.__name__)
def test_answers_are_those_of_the_reference(build: Any) -> None:
    rows = records(400)
    flow = build(hw.replay(rows, rate=40, name="r")).to("console")
    run = simulate(NOISY, HALF, traffic(40.0), 10.0)
    arrived = [Arrived(n * 25_000, n, row) for n, row in enumerate(rows)]
    found = answers_of(flow, None, arrived[: run.records], run)
    wanted = run_flow(flow, None, one_by_one("r", arrived[: run.records]))
    assert last(found, build is counts) == last(wanted, build is counts)
    assert found.set_aside == wanted.set_aside


def last(outcome: Outcome, running: bool) -> Any:
    """All answers, or the last one of each key where each batch tells it anew."""
    if running:
        return {answer.row["user"]: answer.row for answer in outcome.answers}
    return sorted(str(answer.row) for answer in outcome.answers)


def test_states_in_memory_are_as_fast_as_the_model_says() -> None:
    mean_s = {}
    for store in STORES:
        own = replace(HALF, interval_s=0.0, store=store)
        found = simulate(stored(), own, traffic(20_000.0), 30.0).latency(after_s=5.0)
        foretold = predict(stored(), own, Load(20_000.0, 0.0))
        assert found.mean_s == pytest.approx(foretold.mean_s, rel=0.1)
        mean_s[store] = found.mean_s
    assert mean_s["memory"] < 0.95 * mean_s["rocksdb"]

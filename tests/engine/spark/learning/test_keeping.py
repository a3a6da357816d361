"""The keeper changes a run when that pays, and says so in the run's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headway as hw
from headway.clock import SystemClock
from headway.engine.simulated.run import simulate
from headway.engine.simulated.world import Traffic
from headway.engine.spark.gate.offsets import NATIVE
from headway.engine.spark.learning.keeping import Keeper, Learned, first_settings
from headway.errors import RunError
from headway.flow.goals import parse_goal
from headway.flow.rates import parse_rate
from headway.keep.decisions import DECISIONS, read_decisions
from headway.keep.loop import Caution
from headway.measure.batches import BatchLine
from headway.measure.costs.lanes import Lanes
from headway.measure.costs.profile import JobProfile
from headway.measure.moments import Moments
from headway.model.candidate import Candidate
from headway.model.service import Service
from headway.plan.modes import MODES, Mode, RealTime
from headway.testing.logs import made_lines
from headway.workloads.makers.keyed import Keyed
from tests.model.profiles import batch_costs, profile, stored
from tests.waiting import until

CLOCK = SystemClock()
HALF = Candidate("micro-batch", 1, 2, 2, 2, interval_s=0.5)
QUICK = Caution(every_s=0.05, cooldown_s=0.1)
CLOSE = RealTime(checkpoint_s=10.0, shuffle_bytes=1_000)


class NoRun:
    """A run that never was: its lines are given, and it notes what it is told."""

    def __init__(self, flow: hw.Flow, settings: hw.Settings) -> None:
        self.flow, self.settings, self.lanes = flow, settings, Lanes(2, 2)
        self.mode: Mode = "micro-batch"
        self.store = settings.store
        self.pace = settings.pace
        self.begun = False
        self.told: list[tuple[str, int]] = []

    def lines(self) -> list[BatchLine]:
        """None at first, as the keeper begins with the run."""
        begun, self.begun = self.begun, True
        return made_lines(60, query=self.flow.sinks[0].name) if begun else []

    def set_pace(self, *, interval: str, readers: int) -> hw.Pace:
        self.told.append((interval, readers))
        return self.pace

    def switch(self, mode: Mode, patience_s: float, real_time: RealTime | None) -> float:
        raise AssertionError("this flow has one mode")


def flow() -> hw.Flow:
    return hw.replay(Keyed(keys=5), rate=10).key("key").reduce(n="count(*)").to("console")


def batches() -> tuple[Mode, ...]:
    return ("micro-batch",)


def kept(settings: hw.Settings, goal: str, folder: Path) -> tuple[NoRun, Keeper]:
    run = NoRun(flow(), settings)
    known = JobProfile(run.flow.fingerprint, run.lanes, batch_costs())
    keeper = Keeper(run, parse_goal(goal), known, folder, QUICK)
    until(lambda: len(keeper.decisions) >= 1)
    keeper.close()
    return run, keeper


def test_batches_that_are_too_rare_for_the_goal_become_more_frequent(tmp_path: Path) -> None:
    settings = hw.Settings(pace=hw.Pace(interval_s=3.0))
    run, keeper = kept(settings, "p99 <= 1500ms", tmp_path)
    assert keeper.decisions[0].action == "change"
    assert float(run.told[0][0].removesuffix("s")) < 3.0
    assert next(read_decisions(tmp_path / DECISIONS)) == keeper.decisions[0]


def test_a_passive_keeper_only_says_what_it_would_do(tmp_path: Path) -> None:
    settings = hw.Settings(pace=hw.Pace(interval_s=3.0), keeping="passive")
    run, keeper = kept(settings, "p99 <= 1500ms", tmp_path)
    assert keeper.decisions[0].action == "would change"
    assert keeper.kept.now.interval_s == 3.0
    assert run.told == []


class Streaming(NoRun):
    """The same in real-time mode, with checkpoints ten seconds apart."""

    def __init__(self, fails: bool) -> None:
        super().__init__(flow(), hw.Settings(real_time=CLOSE))
        self.mode, self.fails = "real-time", fails
        self.knobs: list[RealTime | None] = []
        ran = simulate(profile(), candidate_of_stream(), Traffic(parse_rate(50.0)), 60.0)
        sink = self.flow.sinks[0].name
        self.ran = [replace(line, query=sink, because=NATIVE) for line in ran.lines]

    def lines(self) -> list[BatchLine]:
        begun, self.begun = self.begun, True
        return self.ran if begun else []

    def switch(self, mode: Mode, patience_s: float, real_time: RealTime | None) -> float:
        self.knobs.append(real_time)
        if self.fails:
            raise RunError("not today")
        return 1.5


def candidate_of_stream() -> Candidate:
    return Candidate("real-time", 1, 2, 1, 1, checkpoint_s=CLOSE.checkpoint_s)


@pytest.mark.parametrize("fails", [False, True])
def test_checkpoints_that_are_too_close_for_the_goal_become_rarer(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.engine.spark.learning.keeping.modes_of", lambda _: MODES)
    run = Streaming(fails)
    known = replace(profile(), flow=run.flow.fingerprint, lanes=run.lanes)
    keeper = Keeper(run, parse_goal("p99 <= 60ms"), known, tmp_path, replace(QUICK, restart_s=0.5))
    until(lambda: len(keeper.decisions) >= 1)
    keeper.close()
    said, told = keeper.decisions[0], run.knobs[0]
    assert told is not None
    assert told.checkpoint_s > CLOSE.checkpoint_s
    assert told.shuffle_bytes == CLOSE.shuffle_bytes
    if fails:
        assert (said.action, said.because, said.candidate.checkpoint_s) == ("keep", "not today", 10)
        assert keeper.caution.restart_s == 0.5
    else:
        assert (said.action, said.candidate.checkpoint_s) == ("change", told.checkpoint_s)
        assert keeper.caution.restart_s == 1.5


def test_a_flow_that_is_not_known_starts_well_within_its_goal() -> None:
    goal, unknown = parse_goal("p99 <= 900ms"), JobProfile("f")
    assert first_settings(hw.Settings(), goal, flow(), unknown, batches).pace.interval_s == 0.3
    assert first_settings(hw.Settings(), None, flow(), unknown, batches) == hw.Settings()
    off = hw.Settings(keeping="off")
    assert first_settings(off, goal, flow(), unknown, batches) == off


def test_a_flow_that_is_known_starts_as_planned() -> None:
    came = Moments(1_000, 1e-4, 1e-8, 1e-12)
    known = JobProfile("f", Lanes(2, 2), replace(batch_costs(), arrivals=came))
    found = first_settings(hw.Settings(), parse_goal("p99 <= 2s"), flow(), known, batches)
    assert 0.5 < found.pace.interval_s < 2.0
    assert found.pace.readers is not None
    limited = hw.Settings(pace=hw.Pace(max_rows=100))
    assert first_settings(limited, parse_goal("p99 <= 2s"), flow(), known, batches) == limited


def test_a_flow_starts_with_the_store_that_is_planned_unless_one_was_chosen() -> None:
    came = Moments(1_000, 1e-4, 1e-8, 1e-12)
    known = replace(stored(), lanes=Lanes(2, 2))
    known = replace(known, batch=replace(known.batch, arrivals=came))
    goal, tight = parse_goal("p99 <= 2s"), parse_goal("p99 <= 500ms")
    found = first_settings(hw.Settings(), tight, flow(), known, batches)
    assert found.store == "memory"
    chosen = first_settings(hw.Settings(store="rocksdb"), goal, flow(), known, batches)
    assert chosen.store == "rocksdb"
    unknown = replace(known, batch=replace(batch_costs(), arrivals=came))
    assert first_settings(hw.Settings(), goal, flow(), unknown, batches).store is None


def test_a_word_that_is_no_way_of_keeping_is_refused() -> None:
    with pytest.raises(ValueError, match="keeping is 'active', 'passive' or 'off'; got 'on'"):
        hw.Settings(keeping="on")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_a_run_on_spark_is_kept_to_its_goal(spark: SparkSession, tmp_path: Path) -> None:
    counted = hw.replay(Keyed(keys=50), rate=500).key("key").reduce(n="count(*)")
    told = counted.to(f"parquet:{tmp_path / 'out'}")
    slow = hw.Settings(pace=hw.Pace(interval_s=0.3))
    with hw.run(
        told, goal="p99 <= 60s", folder=tmp_path / "run", session=spark, settings=slow
    ) as run:
        assert run.keeper is not None
        run.keeper.caution = replace(run.keeper.caution, every_s=0.5, cooldown_s=1.0)
        keeper = run.keeper
        until(lambda: any(each.action == "change" for each in keeper.decisions), 90)
        paced_s = run.pace.interval_s
    assert paced_s > 1.0  # a minute is long: rarer batches cost less
    assert any(d.action == "change" for d in read_decisions(tmp_path / "run" / DECISIONS))
    assert run.account.balanced


def test_a_run_that_is_steady_for_hours_does_not_forget_what_is_fixed() -> None:
    run = NoRun(flow(), hw.Settings())
    run.begun = True
    learned = Learned(JobProfile(run.flow.fingerprint, run.lanes, batch_costs()))
    before = Service.of(learned.profile, [HALF]).saturation_per_s[0]
    steady = run.lines()[-1]
    lines = [replace(steady, published_s=steady.published_s + n, batch=n) for n in range(900)]
    learned.see(lines, run.flow.sinks[0].name)
    after = Service.of(learned.profile, [HALF])
    ratio = after.ratios.mean()
    assert after.saturation_per_s[0] == pytest.approx(before / ratio, rel=0.5)
    assert len(learned.profile.batch.ratios) <= 256

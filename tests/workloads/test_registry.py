"""Every workload in the list builds in every form it claims, and says what it is."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from headway.errors import FlowError
from headway.flow.goals import parse_goal
from headway.flow.graph import Flow
from headway.workloads.registry import WORKLOADS, Workload, named

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=list(WORKLOADS))
def test_a_workload_builds_in_every_form_it_claims(workload: Workload) -> None:
    source = workload.source(rate=1_000, count=10)
    forms = [build for build in (workload.native, workload.pair) if build is not None]
    assert forms
    for build in forms:
        flow = build(source).to("console")
        assert len(flow.stateful()) == 1


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=list(WORKLOADS))
def test_a_workload_has_its_name_a_sentence_and_a_goal_that_parses(workload: Workload) -> None:
    assert named(workload.name) is workload
    assert workload.sentence.endswith(".")
    assert parse_goal(workload.goal).limit_s > 0


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(FlowError, match="no workload 'wrods'; there are sessions, words"):
        named("wrods")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_defines_a_flow_without_running_it(path: Path) -> None:
    assert isinstance(runpy.run_path(str(path))["flow"], Flow)


def test_there_are_examples() -> None:
    assert {path.stem for path in EXAMPLES} >= {"word_count", "sessions", "your_own_pair"}

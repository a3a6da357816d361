"""Plans as text, kept in files: a change of the planner shows as a change of a plan.

Each file asks above the line and is answered below it, for the costs of tests/model/profiles.py;
`growing` says how many times as many the states become while records double, in either store.
HEADWAY_GOLDEN=write writes the answers anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.flow.goals import parse_goal
from headway.model.candidate import Load
from headway.plan.modes import MODES
from headway.plan.planner import make_plan
from headway.plan.search import Wanted
from headway.plan.space import space_of
from headway.plan.text import arithmetic, every_text, plan_text
from tests.kept import compare_with_kept
from tests.model.profiles import profile, stored

FILES = sorted((Path(__file__).parent.parent / "golden").glob("*.txt"))


def answer(asked: dict[str, str]) -> str:
    known = stored(float(asked["growing"])) if "growing" in asked else profile()
    wanted = Wanted(parse_goal(asked["goal"]), Load(1.0))
    space = space_of(known, MODES, cores=int(asked.get("cores", 2)))
    rate = float(asked["rate"]) if "rate" in asked else None
    found = make_plan(space, wanted, int(asked.get("nodes", 1)), rate)
    parts = [plan_text(found), *space.left_out]
    if "all" in asked:
        parts.append(every_text(found))
    if "explain" in asked and found.chosen:
        parts.append(arithmetic(known, found.chosen.predicted))
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_plan_is_the_one_that_is_kept(file: Path) -> None:
    compare_with_kept(file, answer)


def test_there_are_plans_to_compare() -> None:
    assert len(FILES) >= 8

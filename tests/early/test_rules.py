"""Each rule as text: a question and its tables above the line, how it is answered below it.

HEADWAY_GOLDEN=write writes the answers anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from headway.early.lower import lower_query
from headway.early.read.query import read_query
from headway.early.relation import FIRST, LAST, ROWS, Known, Relation, Step
from headway.early.rules.types import flat_types
from headway.early.sampling import Sampling
from headway.errors import NoRule, QueryError
from tests.early.tables import TYPES, sampled, types_of
from tests.kept import compare_with_kept

FILES = sorted((Path(__file__).parent / "rules").glob("*.txt"))


def lowered(asked: dict[str, str]) -> Relation:
    query = read_query(asked["question"], TYPES)
    counts = (each.partition("=") for each in asked.get("rows", "").split())
    rows = {name: int(count) for name, _, count in counts}
    columns = flat_types(query.node, TYPES)
    known = Known(sampled(asked.get("by", "")), types_of, columns=columns, rows=rows)
    return lower_query(query, known)


def told(step: Step, depth: int = 0) -> str:
    line = f"{'  ' * depth}{step.operator}: {step.rule} ({step.because})\n"
    return line + "".join(told(under, depth + 1) for under in step.under)


def answer(asked: dict[str, str]) -> str:
    try:
        relation = lowered(asked)
    except (NoRule, QueryError) as error:
        return f"{type(error).__name__}: {error}\n"
    return f"{told(relation.step)}\n{broken(relation.sql)}\n"


def broken(sql: str) -> str:
    """SQL with a line for each relation, so that a change shows where it is."""
    for mark, shown in ((FIRST, "{first}"), (LAST, "{last}"), (ROWS, "{rows}")):
        sql = sql.replace(mark, shown)
    for word in (" FROM (", " JOIN (", " UNION ALL ", " WHERE ", " GROUP BY "):
        sql = sql.replace(word, f"\n{word[1:]}")
    return sql


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_question_is_answered_by_the_rule_that_is_kept(file: Path) -> None:
    compare_with_kept(file, answer)


def test_there_are_rules_to_compare() -> None:
    assert len(FILES) >= 20


def test_progress_that_follows_the_key_completes_its_groups() -> None:
    by_key = lowered({"question": "SELECT k, sum(v) FROM t GROUP BY k", "by": "t=k"})
    by_row = lowered({"question": "SELECT k, sum(v) FROM t GROUP BY k", "by": "t=row"})
    assert (by_key.step.rule, by_row.step.rule) == ("complete", "additive")
    assert by_key.contract.inclusive
    assert not by_row.contract.inclusive


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "SELECT a.k, sum(a.v + 1) FROM t AS a JOIN u ON a.k = u.k GROUP BY a.k",
            ["SELECT CAST(NULL"],
        ),
        ("SELECT sum(n) FROM (SELECT k, sum(v) AS n FROM t GROUP BY k)", ["SELECT `out.k`"]),
        ("SELECT g, avg(V * 2) FROM t GROUP BY g", ["SELECT CAST(NULL AS bigint) AS `t.v`"]),
        ("SELECT g, avg(V), sum(x), max(d), count(*) FROM t GROUP BY g", []),
    ],
)
def test_types_are_asked_for_where_they_are_not_known(question: str, asked: list[str]) -> None:
    query, told = read_query(question, TYPES), list[str]()

    def types(sql: str, texts: Sequence[str]) -> list[str]:
        told.append(sql)
        return ["bigint"] * len(texts)

    lower_query(query, Known(sampled("t=row"), types, columns=flat_types(query.node, TYPES)))
    last = zip(told[-1:], asked, strict=True)
    assert all(text.startswith(begin) for text, begin in last)


def test_equal_keys_under_another_seed_are_not_aligned() -> None:
    question = "SELECT count(*) FROM t JOIN u ON t.k = u.k"
    same = lowered({"question": question, "by": "t=k u=k"})
    other = Known(
        {**sampled("t=k"), "u": Sampling("key", ("k",), 20, seed=7).contract(TYPES["u"])}, types_of
    )
    apart = lower_query(read_query(question, TYPES), other)
    assert same.step.under[0].rule == "aligned"
    assert apart.step.under[0].rule == "intersected"


@pytest.mark.parametrize(
    ("question", "by", "forgets"),
    [
        ("SELECT k, sum(v) FROM t GROUP BY k", "t=k", True),
        ("SELECT k, sum(v) FROM t GROUP BY k", "t=row", False),
        ("SELECT k, sum(v) FROM t GROUP BY k", "", False),
        ("SELECT t.k, count(*) FROM t JOIN u ON t.k = u.k GROUP BY t.k", "t=k u=k", True),
        ("SELECT t.k, count(*) FROM t JOIN u ON t.v = u.w GROUP BY t.k", "t=k u=k", False),
        ("SELECT k FROM t UNION ALL SELECT k FROM u", "t=k u=k", True),
        ("SELECT k FROM t UNION ALL SELECT k FROM u", "t=k", False),
        ("SELECT k, v FROM t ORDER BY v LIMIT 3", "t=k", False),
        ("SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k)", "t=k", True),
        ("SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k)", "u=k", False),
        ("SELECT k, sum(v) FROM t GROUP BY k", "t+3=k", False),
    ],
)
def test_a_point_is_forgotten_where_no_later_one_needs_it(
    question: str, by: str, forgets: bool
) -> None:
    assert lowered({"question": question, "by": by}).forgets == forgets


@pytest.mark.parametrize(
    ("question", "by"),
    [
        ("SELECT count(*) FROM t JOIN u ON t.k = u.h", "t=k u=h"),
        ("SELECT count(*) FROM t a JOIN t b ON a.x = b.x", "t=x"),
    ],
    ids=["unlike types", "floats"],
)
def test_equal_values_with_unlike_hashes_do_not_enter_together(question: str, by: str) -> None:
    assert lowered({"question": question, "by": by}).step.under[0].rule == "intersected"


def test_no_text_of_a_question_stands_for_a_point() -> None:
    question = "SELECT v, count(*) FROM t WHERE v = '{first} {last} {rows} \\0first\\0' GROUP BY v"
    sql = lowered({"question": question, "by": "t+3=k"}).sql
    assert "'{first} {last} {rows} \\0first\\0'" in sql
    assert sql.count(FIRST) > 0
    with pytest.raises(QueryError, match="code 0"):
        lowered({"question": question.replace("\\0", "\0"), "by": "t=k"})

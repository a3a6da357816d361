"""--table and --by say which tables there are, and how the tuples of each enter."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.cli.asking.tables import By, Growth, choose_samplings, largest, parse_by, parse_tables
from headway.cli.outcome import UsedWrongly
from headway.early.sampling import Sampling
from headway.errors import QueryError

TABLES = ["orders", "lineitem"]
COLUMNS = {"orders": ["o_orderkey", "at"], "lineitem": ["l_orderkey", "At"], "nation": ["name"]}


def chosen(*texts: str) -> dict[str, Sampling]:
    bys = [parse_by(text, list(COLUMNS)) for text in texts]
    return choose_samplings(COLUMNS, bys, Growth(10, 7, 2.0))


@pytest.mark.parametrize("text", ["orders", "=x", "orders=", "a b=x", "data/day=1"])
def test_a_table_needs_a_name_and_a_path(text: str) -> None:
    with pytest.raises(UsedWrongly, match="NAME=PATH"):
        parse_tables([text])


def test_tables_are_there_and_have_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a=1.csv").write_text("n\n1\n")
    assert parse_tables([f"t={tmp_path}/a=1.csv"]) == {"t": tmp_path / "a=1.csv"}
    with pytest.raises(UsedWrongly, match="twice"):
        parse_tables([f"t={tmp_path}", f"T={tmp_path}"])
    with pytest.raises(UsedWrongly, match="no file or folder"):
        parse_tables([f"t={tmp_path}/missing.csv"])
    with pytest.raises(UsedWrongly, match="needs a table"):
        parse_tables([])


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("o_orderkey", By(None, "key", ("o_orderkey",))),
        ("orders=o_orderkey", By("orders", "key", ("o_orderkey",))),
        ("orders=row", By("orders", "row")),
        ("orders=start", By("orders", "start")),
        ("orders=strata:at", By("orders", "strata", ("at",))),
        ("orders=order:IF(a = 1, b, c)", By("orders", "order", ("IF(a = 1, b, c)",))),
    ],
)
def test_a_by_is_a_column_or_a_strategy(text: str, by: By) -> None:
    assert parse_by(text, TABLES) == by


@pytest.mark.parametrize("text", ["", "orders=", "orders=order:", "nothing=row"])
def test_a_by_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsedWrongly, match="--by"):
        parse_by(text, TABLES)


def test_a_column_applies_to_every_table_that_has_it_as_the_table_spells_it() -> None:
    found = chosen("AT")
    assert found["orders"] == Sampling("key", ("at",), 10, 7, 2.0)
    assert found["lineitem"] == Sampling("key", ("At",), 10, 7, 2.0)
    assert found["nation"] == Sampling("start", points=1)


def test_what_is_said_of_one_table_outranks_what_is_said_of_all() -> None:
    found = chosen("at", "orders=strata:o_orderkey", "nation=order:upper(name)")
    assert found["orders"].kind == "strata"
    assert found["lineitem"].by == ("At",)
    assert found["nation"].by == ("upper(name)",)


def test_two_ways_for_one_table_are_refused() -> None:
    with pytest.raises(UsedWrongly, match="orders would go by o_orderkey and at; say which"):
        chosen("o_orderkey", "at")


def test_a_column_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsedWrongly, match="orders has o_orderkey, at"):
        chosen("row")
    with pytest.raises(UsedWrongly, match="has no column 'x'; it has o_orderkey, at"):
        chosen("orders=x")


def test_a_growth_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(QueryError, match="growth must be"):
        choose_samplings(COLUMNS, [By("orders", "row")], Growth(10, 0, 0.0))


def test_a_sample_may_begin_with_a_part_of_its_own() -> None:
    [found] = choose_samplings(
        {"orders": ("at",)}, [By("orders", "row")], Growth(10, first=0.01)
    ).values()
    assert found == Sampling("row", (), 10, first=0.01)


def test_the_largest_table_is_told_by_the_bytes_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for n in range(3):
        (tmp_path / "many" / f"{n}.csv").write_text("x" * 10)
    (tmp_path / "one.csv").write_text("x" * 20)
    assert largest({"one": tmp_path / "one.csv", "many": tmp_path / "many"}) == "many"

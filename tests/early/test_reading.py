"""Queries read into the algebra: what is shared between those that look at one is not changed."""

from __future__ import annotations

from headway.early.read.query import parse, read_query, tables_in

SQL = "SELECT k, sum(v) AS s FROM T WHERE k IN (SELECT k FROM u) GROUP BY k ORDER BY 2"
TYPES = {"t": {"k": "bigint", "v": "bigint"}, "u": {"k": "bigint"}}


def test_a_query_is_parsed_once_and_stays_as_it_was() -> None:
    before = repr(parse(SQL))
    first, second = read_query(SQL, TYPES), read_query(SQL, TYPES)
    assert first == second
    assert tables_in(SQL) == {"t", "u"}
    assert (parse(SQL) is parse(SQL), repr(parse(SQL))) == (True, before)

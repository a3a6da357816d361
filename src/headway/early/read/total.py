"""LIMIT under a total order: ties are broken by all shown columns, so that the cut is one fact."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

DIALECT = "spark"


def totally_ordered(sql: str) -> str:
    """The query with each LIMIT of a SELECT under an order that no two unlike rows share.

    >>> totally_ordered("SELECT a, b FROM t ORDER BY b DESC LIMIT 3")
    'SELECT a, b FROM t ORDER BY b DESC, a, b LIMIT 3'
    >>> totally_ordered("SELECT a FROM t")
    'SELECT a FROM t'
    """
    tree = sqlglot.parse_one(sql, dialect=DIALECT)
    cut = [node for node in tree.find_all(exp.Select) if node.args.get("limit")]
    if not cut:
        return sql
    for select in cut:
        more = [
            exp.Ordered(this=exp.column(shown.alias_or_name), nulls_first=True)
            for shown in select.selects
            if shown.alias_or_name and shown.alias_or_name != "*"
        ]
        order = select.args.get("order")
        kept = list(order.expressions) if order else []
        select.set("order", exp.Order(expressions=[*kept, *more]))
    return tree.sql(DIALECT)

"""LIMIT under a total order: ties are broken by all shown columns, so that the cut is one fact."""

from __future__ import annotations

from sqlglot import exp

from headway.early.read.query import parse
from headway.early.read.scope import DIALECT


def totally_ordered(sql: str) -> str:
    """The query with each LIMIT of a SELECT under an order that no two unlike rows share.

    >>> totally_ordered("SELECT a, b FROM t ORDER BY b DESC LIMIT 3")
    'SELECT a, b FROM t ORDER BY b DESC, a, b LIMIT 3'
    >>> totally_ordered("SELECT a FROM t")
    'SELECT a FROM t'
    """
    if not any(node.args.get("limit") for node in parse(sql).find_all(exp.Select)):
        return sql
    tree = parse(sql).copy()
    for select in tree.find_all(exp.Select):
        if not select.args.get("limit"):
            continue
        more = [
            exp.Ordered(this=exp.column(shown.alias_or_name), nulls_first=True)
            for shown in select.selects
            if shown.alias_or_name and shown.alias_or_name != "*"
        ]
        order = select.args.get("order")
        kept = list(order.expressions) if order else []
        select.set("order", exp.Order(expressions=[*kept, *more]))
    return tree.sql(DIALECT)

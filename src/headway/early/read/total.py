"""LIMIT under a total order: ties are broken by all shown columns, so that the cut is one fact."""

from __future__ import annotations

from sqlglot import exp

from headway.early.read.query import parse
from headway.early.read.scope import DIALECT

CUTS = ("limit", "offset")


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


def stands_as_it_is(sql: str) -> bool:
    """Whether Spark, asked `totally_ordered(sql)`, cuts and groups as our rules do.

    It does unless a cut is left to chance (a LIMIT over a set operation or in a subquery, an OFFSET
    alone, columns that are shown without a name of their own), or there are sets of groupings, of
    which Spark answers the empty one only where there are rows.

    >>> stands_as_it_is("SELECT a, b FROM t ORDER BY b LIMIT 3"), stands_as_it_is("SELECT * FROM t")
    (True, True)
    >>> stands_as_it_is("SELECT * FROM t ORDER BY b LIMIT 3")
    False
    """
    tree = parse(sql)
    if tree.find(exp.Rollup, exp.Cube, exp.GroupingSets):
        return False
    cut = [node for node in tree.find_all(exp.Query) if any(map(node.args.get, CUTS))]
    if not cut:
        return True
    names = [one.alias_or_name.lower() for one in tree.selects]
    named = all(isinstance(one, exp.Alias | exp.Column) and not one.is_star for one in tree.selects)
    alone = cut == [tree] and isinstance(tree, exp.Select) and bool(tree.args.get("limit"))
    return alone and named and all(names) and len(set(names)) == len(names)

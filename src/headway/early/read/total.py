"""A question made one fact: LIMIT is under a total order, and no max_by has ties.

Ties of a cut are broken by all shown columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headway.early.read.extremes import tied_in, with_ties_told
from headway.early.read.query import parse
from headway.early.read.scope import DIALECT
from headway.errors import QueryError
from headway.flow.sql import GENERATORS, WIDE, function_name

CUTS = ("limit", "offset")
SORTS_OF_TASKS = ("sort", "cluster", "distribute")
ROW = "hw_row"  # all shown columns as one value, where they cannot be counted


def totally_ordered(sql: str, wholly: bool = False) -> str:
    """The query with each LIMIT and OFFSET under an order that no two unlike rows share.

    So is each max_by and min_by; see `with_ties_told`. `wholly`, so are all its rows, where they
    have an order.

    >>> totally_ordered("SELECT a, b FROM t ORDER BY b DESC LIMIT 3")
    'SELECT a, b FROM t ORDER BY b DESC, a, b LIMIT 3'
    >>> totally_ordered("SELECT a FROM t UNION ALL SELECT a FROM u LIMIT 3")
    'SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY 1 LIMIT 3'
    >>> totally_ordered("SELECT a FROM t")
    'SELECT a FROM t'
    >>> totally_ordered("SELECT a, b FROM t ORDER BY b", wholly=True)
    'SELECT a, b FROM t ORDER BY b, a, b'
    """
    wholly = wholly and is_ordered(sql)
    if next(cuts_in(parse(sql)), None) is None and not has_ties(sql) and not wholly:
        return sql
    tree = with_ties_told(parse(sql).copy())
    if wholly:
        tree = without_brackets(tree)
    cut = list(cuts_in(tree))
    if wholly and isinstance(tree, exp.Query) and all(one is not tree for one in cut):
        cut.insert(0, tree)
    for query in reversed(cut):  # innermost first: what is around it may copy it
        ordered = with_order(query)
        if query is tree:
            tree = ordered
        elif ordered is not query:
            query.replace(ordered)
    return tree.sql(DIALECT)


def is_ordered(sql: str) -> bool:
    """Whether the rows of a query have an order.

    >>> is_ordered("(SELECT a FROM t ORDER BY a)"), is_ordered("SELECT a FROM (SELECT 1 AS a)")
    (True, False)
    """
    return bool(without_brackets(parse(sql)).args.get("order"))


def without_brackets(tree: exp.Expr) -> exp.Expr:
    """A query that stands in brackets and has nothing beside them, without them.

    >>> without_brackets(parse("((SELECT a FROM t ORDER BY a))")).sql(DIALECT)
    'SELECT a FROM t ORDER BY a'
    >>> without_brackets(parse("(SELECT 1) LIMIT 1")).sql(DIALECT)
    '(SELECT 1) LIMIT 1'
    """
    while isinstance(tree, exp.Subquery) and tree.is_wrapper:
        tree = tree.this
    return tree


def has_ties(sql: str) -> bool:
    """Whether a query takes the extreme of an order that may have ties."""
    return next(tied_in(parse(sql)), None) is not None


def cuts_in(tree: exp.Expr) -> Iterator[exp.Query]:
    """The queries of a query that show some of their rows, outermost first."""
    for query in tree.find_all(exp.Query):
        if any(map(query.args.get, CUTS)):
            yield query


def with_order(query: exp.Query) -> exp.Query:
    """A query that is cut, under its own order and then that of all columns that it shows."""
    for part in SORTS_OF_TASKS:
        if query.args.get(part):
            raise QueryError(
                f"`{query.args[part].sql(DIALECT).strip()}` orders the rows of each task by "
                "themselves, so what a LIMIT leaves would depend on how they are split; "
                "write ORDER BY instead"
            )
    if any(isinstance(key.this, exp.Var) for key in keys_of(query)):  # ORDER BY ALL
        return query
    if not any(map(is_wide, query.selects)):
        return further_ordered(query, shown_columns(query))
    if isinstance(query.parent, exp.Exists):  # which rows there are is not asked
        return query
    if isinstance(query, exp.Select) and can_be_repeated(query):
        inner = query.copy()
        inner.select(row_of([one.unalias() for one in query.selects]), copy=False)
    else:
        inner = read_again(query)
    by_row = further_ordered(inner, [exp.column(ROW)])
    but_row = exp.Star(except_=[exp.to_identifier(ROW)])
    return exp.select(but_row).from_(by_row.subquery(copy=False), copy=False)


def keys_of(query: exp.Query) -> list[exp.Ordered]:
    """The keys of a query's own ORDER BY."""
    order = query.args.get("order")
    return list(order.expressions) if order else []


def further_ordered(query: exp.Query, columns: list[exp.Expr]) -> exp.Query:
    """The query under its own order, and then that of some columns."""
    more = [exp.Ordered(this=column, nulls_first=True) for column in columns]
    query.set("order", exp.Order(expressions=[*keys_of(query), *more]))
    return query


def is_wide(shown: exp.Expr) -> bool:
    """Whether what is shown may be any number of columns."""
    if shown.is_star or isinstance(shown, exp.Aliases):
        return True
    return isinstance(shown, exp.Func) and function_name(shown) in GENERATORS | WIDE


def shown_columns(query: exp.Query) -> list[exp.Expr]:
    """The columns that a query shows: by name where each has one of its own, else by number."""
    named = [one for one in query.selects if isinstance(one, exp.Alias | exp.Column)]
    names = [one.alias_or_name for one in named]
    apart = len({name.lower() for name in names}) == len(query.selects)
    if apart and isinstance(query, exp.Select):
        return [exp.column(name) for name in names]
    return [exp.Literal.number(n + 1) for n in range(len(query.selects))]


def can_be_repeated(select: exp.Select) -> bool:
    """Whether what a SELECT shows can be said a second time beside it, as one value."""
    made = {function_name(one) for shown in select.selects for one in shown.find_all(exp.Func)}
    return not select.args.get("distinct") and not made & (GENERATORS | WIDE)


def read_again(query: exp.Query) -> exp.Select:
    """A query around one that is not cut, which shows its rows as values, too, and cuts them.

    >>> read_again(parse("SELECT * FROM t UNION SELECT * FROM u LIMIT 3")).sql(DIALECT)
    'SELECT *, STRUCT(*) AS hw_row FROM (SELECT * FROM t UNION SELECT * FROM u) LIMIT 3'
    """
    inner = query.copy()
    cut = {name: inner.args.pop(name) for name in ("order", *CUTS) if inner.args.get(name)}
    for key in cut["order"].find_all(exp.Column, exp.AggFunc) if "order" in cut else ():
        if isinstance(key, exp.AggFunc) or key.table:
            raise QueryError(
                f"ORDER BY `{key.sql(DIALECT)}` of a query that shows `*` and is cut by LIMIT: say "
                "each column by its name instead of `*`, or order by the name of a shown column"
            )
    bare = inner.unwrap() if isinstance(inner, exp.Subquery) else inner
    around = exp.select(exp.Star(), row_of([exp.Star()])).from_(bare.subquery(copy=False))
    for name, part in cut.items():
        around.set(name, part)
    return around


def row_of(columns: list[exp.Expr]) -> exp.Expr:
    """All columns as one value with a name."""
    return exp.alias_(exp.Struct(expressions=[one.copy() for one in columns]), ROW)


def stands_as_it_is(sql: str) -> bool:
    """Whether Spark, asked `totally_ordered(sql)`, surely cuts and groups as our rules do.

    It does unless there is a cut elsewhere than at the top (a LIMIT over a set operation or in a
    subquery), an OFFSET alone, or a cut of columns that are shown without a name of their own, or
    there are sets of groupings, of which Spark answers the empty one only where there are rows, or
    a max_by has no name, since Spark would name its column by how we say it.

    >>> stands_as_it_is("SELECT a, b FROM t ORDER BY b LIMIT 3"), stands_as_it_is("SELECT * FROM t")
    (True, True)
    >>> stands_as_it_is("SELECT * FROM t ORDER BY b LIMIT 3")
    False
    """
    tree = parse(sql)
    if tree.find(exp.Rollup, exp.Cube, exp.GroupingSets) or not all(map(is_named, tied_in(tree))):
        return False
    cut = list(cuts_in(tree))
    if not cut:
        return True
    names = [one.alias_or_name.lower() for one in tree.selects]
    named = all(isinstance(one, exp.Alias | exp.Column) and not one.is_star for one in tree.selects)
    alone = cut == [tree] and isinstance(tree, exp.Select) and bool(tree.args.get("limit"))
    return alone and named and all(names) and len(set(names)) == len(names)


def is_named(node: exp.Expr) -> bool:
    """Whether an expression is shown under a name that does not depend on how it is said."""
    return isinstance(node.find_ancestor(exp.Alias, exp.Select), exp.Alias)

"""max_by and min_by as one fact: among rows that share the order, the value itself decides."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

EXTREMES = (exp.ArgMax, exp.ArgMin)


def with_ties_told(tree: exp.Expr) -> exp.Expr:
    """The tree, itself changed, with each max_by and min_by under an order that has no ties.

    Rows whose order is null stay left out, as Spark has it.

    >>> import sqlglot
    >>> with_ties_told(sqlglot.parse_one("max_by(name, score)", dialect="spark")).sql("spark")
    'MAX_BY(name, IF(score IS NULL, NULL, STRUCT(score, name)))'
    """
    for node in reversed(list(tied_in(tree))):  # innermost first: what is around it repeats it
        order, value, count = node.expression, value_of(node), node.args.get("count")
        if not decides(order, value):
            bare = order if isinstance(order, exp.Column) else exp.Paren(this=order)
            missing = exp.Is(this=bare.copy(), expression=exp.Null())
            both = exp.Struct(expressions=[order.copy(), value.copy()])
            node.set("expression", exp.If(this=missing, true=exp.Null(), false=both))
        if count is None:
            node.set("this", value)  # which DISTINCT changes nothing about
        else:  # sqlglot reads the count and does not write it
            several = [node.this, node.expression, count]
            name = "MAX_BY" if isinstance(node, exp.ArgMax) else "MIN_BY"
            node.replace(exp.Anonymous(this=name, expressions=several))
    return tree


def tied_in(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The max_by and min_by in a tree that are to be said otherwise, outermost first."""
    for node in tree.find_all(*EXTREMES):
        plain = node.args.get("count") is None and not isinstance(node.this, exp.Distinct)
        if not plain or not decides(node.expression, value_of(node)):
            yield node


def value_of(node: exp.Expr) -> exp.Expr:
    """What a max_by or min_by shows."""
    shown: exp.Expr = node.this
    return shown.expressions[0] if isinstance(shown, exp.Distinct) else shown


def decides(order: exp.Expr, value: exp.Expr) -> bool:
    """Whether rows that share the order share the value, too, as far as the text tells."""
    fields = order.expressions if isinstance(order, exp.Struct) else ()
    told = (one.expression if isinstance(one, exp.PropertyEQ) else one for one in fields)
    return isinstance(value, exp.Literal) or value in (order, *told)

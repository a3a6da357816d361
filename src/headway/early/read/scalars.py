"""Scalar subqueries: one value for each row outside, as a column of a joined relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from headway.early.algebra import Condition, Group, Inner, Node, Outer, Output, Project
from headway.early.contracts import grouped_alike
from headway.early.read.groups import Extracted, extract
from headway.early.read.scope import (
    Core,
    Scope,
    as_condition,
    as_term,
    flat,
    flatten,
    outside,
)
from headway.early.read.sources import joined
from headway.early.rules.types import types_below
from headway.errors import NoRule

ReadCore = Callable[[exp.Select, Scope], Core]
PASSES_NULL = (exp.Binary, exp.Paren, exp.Neg, exp.Cast)
COMPARES = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def attach_scalars(
    node: Node, tree: exp.Expr, scope: Scope, read_core: ReadCore
) -> tuple[Node, exp.Expr]:
    """Join each scalar subquery of an expression, and put its column where the subquery stood."""
    tree = tree.copy()
    while (found := first_scalar(tree)) is not None:
        must_match = rejects_null(found, tree)
        node, value = attach(node, found.this, scope, read_core, must_match)
        if found is tree:
            tree = value
        else:
            found.replace(value)
    return node, flatten(tree, scope)


def first_scalar(tree: exp.Expr) -> exp.Subquery | None:
    """The first scalar subquery in an expression, outermost first."""
    for found in tree.find_all(exp.Query, bfs=True):
        if isinstance(found, exp.Subquery) and not isinstance(found.parent, exp.In | exp.Exists):
            return found
        raise NoRule("EXISTS or IN inside an expression")
    return None


def rejects_null(found: exp.Expr, tree: exp.Expr) -> bool:
    """Whether a condition cannot hold where the subquery finds nothing."""
    if not isinstance(tree, COMPARES):
        return False
    above = found.parent
    while above is not None and above is not tree:
        if not isinstance(above, PASSES_NULL) or isinstance(above, exp.Connector):
            return False
        above = above.parent
    return True


def attach(
    node: Node, query: exp.Expr, scope: Scope, read_core: ReadCore, must_match: bool
) -> tuple[Node, exp.Expr]:
    """Join one scalar subquery to a relation; gives the relation and the value's expression."""
    inner = scope.inner()
    _select, core, extracted = read_scalar(query, inner, read_core)
    keys, conditions = bound(core, inner, scope)
    value = scope.names.new("scalar")
    grouped = Group(joined(core), keys, tuple(extracted.calls))
    named = tuple(Output(key.name, as_term(flat(key.name))) for key in keys)
    sub = Project(grouped, (*named, Output(value, as_term(extracted.trees[0]))))
    if not keys:
        return Inner((node, sub)), flat(value)
    refuse_unlike(conditions, types_below(Inner((node, sub)), scope.tables))
    empty = on_nothing(extracted)
    if must_match and isinstance(empty, exp.Null):
        return Inner((node, sub), conditions), flat(value)
    missing = exp.Is(this=flat(keys[0].name), expression=exp.Null())
    chosen = exp.Case().when(missing, empty).else_(flat(value))
    return Outer(node, sub, conditions), exp.Paren(this=chosen)


def read_scalar(
    query: exp.Expr, inner: Scope, read_core: ReadCore
) -> tuple[exp.Select, Core, Extracted]:
    """A scalar subquery that aggregates to one value; others may give none or many."""
    if not isinstance(query, exp.Select) or len(query.selects) != 1:
        raise NoRule("a scalar subquery that is not one SELECT of one column")
    shapes = ("group", "having", "limit", "offset", "distinct", "qualify", "with_")
    if any(query.args.get(shape) for shape in shapes):
        raise NoRule("a scalar subquery with GROUP BY, HAVING, DISTINCT or LIMIT")
    core = read_core(query, inner)
    extracted = extract([query.selects[0].unalias()], (), inner)
    if not extracted.calls:
        raise NoRule("a scalar subquery without an aggregate")
    if any(c.find(exp.Window) for c in extracted.trees):
        raise NoRule("a window function in a scalar subquery")
    return query, core, extracted


def bound(
    core: Core, inner: Scope, scope: Scope
) -> tuple[tuple[Output, ...], tuple[Condition, ...]]:
    """The keys by which the values inside are told apart, and how the rows outside meet them."""
    keys: list[Output] = []
    conditions: list[Condition] = []
    for part in core.pointing_out:
        if not isinstance(part, exp.EQ) or outside(part.left, inner) == outside(part.right, inner):
            raise NoRule(f"the correlation {part.sql('spark')} of a scalar subquery")
        own, theirs = (
            (part.right, part.left) if outside(part.left, inner) else (part.left, part.right)
        )
        if any(inner.find(c.table)[1] for c in theirs.find_all(exp.Column)):
            raise NoRule(f"the correlation {part.sql('spark')} of a scalar subquery")
        key = Output(scope.names.new("key"), as_term(flatten(own, inner)))
        keys.append(key)
        meets = exp.EQ(this=flatten(theirs, inner), expression=flat(key.name))
        conditions.append(as_condition(meets))
    return tuple(keys), tuple(conditions)


def refuse_unlike(conditions: tuple[Condition, ...], types: Mapping[str, str]) -> None:
    """Refuse what may bind a row to several groups, of which each would have a value of its own."""
    for condition in conditions:
        pair = condition.equality
        if pair is None or not grouped_alike(types.get(pair.left, ""), types.get(pair.right, "")):
            raise NoRule(
                f"the correlation {condition.term.text} of a scalar subquery: it compares unlike "
                "types, or such as are not known"
            )


def on_nothing(extracted: Extracted) -> exp.Expr:
    """The value of a scalar subquery that finds no row: counts are 0, the rest is NULL."""
    counts = {call.name for call in extracted.calls if call.function == "count"}
    if not counts:
        return exp.Null()

    def neutral(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return exp.Literal.number(0) if node.name in counts else exp.Null()
        return node

    return extracted.trees[0].copy().transform(neutral)

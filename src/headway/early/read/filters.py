"""WHERE and HAVING: plain conditions, and subqueries turned into joins.

EXISTS and IN become semi joins, their negations anti joins, and a scalar subquery becomes a
column of a relation that is joined. What points out of a subquery becomes the join's condition.
"""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

from headway.early.algebra import Condition, Node, Semi, columns_of
from headway.early.read.scalars import attach_scalars
from headway.early.read.scope import (
    Core,
    Scope,
    as_condition,
    conjuncts,
    flat,
    flatten,
    has_query,
    outside,
)
from headway.early.read.sources import joined, read_sources
from headway.errors import NoRule


def read_core(select: exp.Select, scope: Scope) -> Core:
    """FROM and WHERE of a SELECT."""
    core = read_sources(select, scope)
    where = select.args.get("where")
    asking: list[exp.Expr] = []
    for part in conjuncts(where.this if where else None):
        if has_query(part):
            asking.append(part)
        elif scope.outer is not None and outside(part, scope):
            core.pointing_out.append(part)
        else:
            core.conditions.append(as_condition(flatten(part, scope)))
    for part in asking:
        narrow(core, part, scope)
    return core


def narrow(core: Core, part: exp.Expr, scope: Scope) -> None:
    """Apply one condition that holds a subquery."""
    negated = isinstance(part, exp.Not)
    bare = part.this.unnest() if negated else part
    if isinstance(bare, exp.Exists):
        right, conditions = matches(bare.this, scope)
        add_semi(core, Semi(joined(core), right, conditions, anti=negated))
    elif isinstance(bare, exp.In) and bare.args.get("query") is not None:
        right, conditions = matches(bare.args["query"], scope, bare.this)
        add_semi(core, Semi(joined(core), right, conditions, negated, unknown_is_match=negated))
    else:
        node, flattened = attach_scalars(joined(core), part, scope, read_core)
        core.sources, core.conditions = [node], [as_condition(flattened)]


def matches(
    query: exp.Expr, scope: Scope, member: exp.Expr | None = None
) -> tuple[Node, tuple[Condition, ...]]:
    """The rows of a subquery, and when one of them is a match for a row outside."""
    body = query.this if isinstance(query, exp.Subquery) else query
    if member is not None and (has_query(member) or isinstance(member.unnest(), exp.Tuple)):
        raise NoRule("IN over a row of several values")
    inner = scope.inner()
    if is_plain(body):
        core = read_core(body, inner)
        conditions = [as_condition(flatten(part, inner)) for part in core.pointing_out]
        value = flatten(body.selects[0].unalias(), inner) if member is not None else None
        node = joined(core)
    else:
        block = scope.read(body, inner)
        conditions, node, value = [], block.node, flat(block.columns[0])
    if member is not None and value is not None:
        conditions.append(as_condition(exp.EQ(this=flatten(member, scope), expression=value)))
    return node, tuple(conditions)


def is_plain(body: exp.Expr) -> TypeGuard[exp.Select]:
    """Whether a subquery only joins and filters, so that its rows are those of its core."""
    if not isinstance(body, exp.Select):
        return False
    shapes = ("group", "having", "limit", "offset", "qualify", "with_", "windows")
    return (
        not any(body.args.get(shape) for shape in shapes)
        and bool(body.args.get("from_"))
        and not any(tree.find(exp.AggFunc, exp.Window, exp.Query) for tree in body.selects)
    )


def add_semi(core: Core, semi: Semi) -> None:
    """Put a semi join as deep as its condition allows: on the one source that it reads."""
    if len(core.sources) > 1:
        right = set(columns_of(semi.right))
        wanted = {c for condition in semi.conditions for c in condition.term.columns} - right
        for n, source in enumerate(core.sources):
            if wanted and wanted <= set(columns_of(source)):
                core.sources[n] = Semi(
                    source, semi.right, semi.conditions, semi.anti, semi.unknown_is_match
                )
                return
    core.sources, core.conditions = [semi], []

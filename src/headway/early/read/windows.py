"""OVER: window functions taken out of expressions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headway.early.algebra import Node, Over, Windows
from headway.early.read.scope import DIALECT, Scope, as_order, as_term, flat
from headway.errors import NoRule
from headway.flow.sql import function_name

# These tell rows of equal order apart, so their answer is one fact only under a total order.
TELL_TIES_APART = {
    "row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value", "first", "last",
}  # fmt: skip


def windowed(child: Node, trees: Sequence[exp.Expr], scope: Scope) -> tuple[Node, list[exp.Expr]]:
    """The relation with its window functions as columns, and the expressions over those."""
    overs: list[Over] = []
    changed = []
    for tree in trees:
        while (found := tree.find(exp.Window)) is not None:
            put = flat(named_over(found, overs, scope).name)
            if found is tree:
                tree = put
            else:
                found.replace(put)
        changed.append(tree)
    return (Windows(child, tuple(overs)) if overs else child), changed


def named_over(window: exp.Window, overs: list[Over], scope: Scope) -> Over:
    """One window function as a value with a name."""
    if window.args.get("alias") or window.args.get("over") not in (None, "OVER"):
        raise NoRule("a named window")
    function = window.this
    if window.find(exp.Query) or isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
        raise NoRule(f"the window function {function.sql(DIALECT)}")
    order = window.args.get("order")
    spec = window.args.get("spec")
    frame = spec.sql(DIALECT) if spec else ""
    keys = tuple(as_order(one, one.this) for one in order.expressions) if order else ()
    name = function_name(function) if isinstance(function, exp.Func) else "other"
    over = Over(
        scope.names.new("over"),
        as_term(function),
        tuple(as_term(part) for part in window.args.get("partition_by") or ()),
        keys,
        frame,
        breaks_ties=name in TELL_TIES_APART or frame.upper().startswith("ROWS"),
    )
    overs.append(over)
    return over

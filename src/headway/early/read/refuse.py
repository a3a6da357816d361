"""What is refused: expressions whose value is not a function of the tuples alone."""

from __future__ import annotations

from sqlglot import exp

from headway.errors import QueryError
from headway.flow.sql import CHANGING, PRESENT, function_name

# These take whichever row comes first, so their answer depends on how the work was split.
TAKE_WHAT_COMES_FIRST = {"first", "last", "any_value", "first_value", "last_value", "mode"}
IN_ORDER_OF_ARRIVAL = {
    "collect_list", "array_agg", "listagg", "string_agg", "group_concat",
    "collect_set", "array_unique_agg",
}  # fmt: skip
APPROXIMATE = {"approx_percentile", "percentile_approx", "approx_quantile", "histogram_numeric"}
SORTS = {"array_sort", "sort_array"}


def refuse_what_changes(tree: exp.Expr) -> None:
    """Refuse a query whose answer could differ from run to run, naming the expression."""
    if tree.find(exp.TableSample):
        raise QueryError(
            "TABLESAMPLE draws another sample each time; say how the sample grows with --by instead"
        )
    for node in tree.find_all(exp.Func):
        reason = why_it_changes(node)
        if reason is not None:
            raise QueryError(f"`{node.sql('spark')}` {reason}")
    for cast in tree.find_all(exp.Cast):
        if isinstance(cast.this, exp.Literal) and cast.this.name.strip().lower() in PRESENT:
            raise QueryError(
                f"`{cast.sql('spark')}` depends on when it is read; write the date itself"
            )


def why_it_changes(node: exp.Func) -> str | None:
    """Why the same tuples could give another answer, and the cure; None if they cannot."""
    name = function_name(node)
    if name in CHANGING:
        return "has another value in each run; use a column or a literal instead"
    if name in APPROXIMATE:
        return "depends on how rows are split among tasks; use percentile(...) instead"
    if name in TAKE_WHAT_COMES_FIRST and not inside_window(node):
        return "takes whichever row comes first; use min, max, min_by or max_by instead"
    if name in IN_ORDER_OF_ARRIVAL and not is_sorted(node):
        return f"keeps the order in which rows come; write array_sort({node.sql('spark')}) instead"
    return None


def inside_window(node: exp.Expr) -> bool:
    parent = node.parent
    return isinstance(parent, exp.Window) and parent.this is node


def is_sorted(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Filter | exp.Paren):
        above = above.parent
    return isinstance(above, exp.Func) and function_name(above) in SORTS

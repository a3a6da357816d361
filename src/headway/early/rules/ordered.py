"""Window functions, top-k and comparisons of whole relations: exact point by point."""

from __future__ import annotations

from headway.early.algebra import Compare, Over, Top, Windows
from headway.early.contracts import AT_START, MOVING
from headway.early.progress import FROM
from headway.early.relation import (
    AS_IT_WAS,
    AT_POINT,
    FROM_START,
    POINT,
    Relation,
    Step,
    listed,
    quoted,
    stabbed,
)
from headway.early.rules.rows import steps


def windows(node: Windows, child: Relation) -> Relation:
    """Window functions: plain where each partition enters as a whole, else at each point."""
    columns = (*child.columns, *(over.name for over in node.overs))
    settled = child.contract.at_start or all(
        child.contract.determined_by(plain_partition(over)) for over in node.overs
    )
    if settled:
        shown = [f"{over_text(over, child, [])} AS `{over.name}`" for over in node.overs]
        sql = f"SELECT {listed(quoted(child.columns), shown, AS_IT_WAS)} FROM ({child.sql})"
        step = Step("window", "complete", "each partition enters as a whole", steps([child]))
        asked = not any(over.breaks_ties for over in node.overs)
        return Relation(sql, columns, child.contract, step, child.local, as_asked=asked)
    shown = [f"{over_text(over, child, [POINT])} AS `{over.name}`" for over in node.overs]
    inside = f"SELECT {listed(quoted(child.columns), shown, [POINT])} FROM ({stabbed(child)})"
    sql = f"SELECT {listed(quoted(columns), AT_POINT)} FROM ({inside})"
    step = Step("window", "recompute", "a new tuple may move every row", steps([child]))
    return Relation(sql, columns, MOVING, step)


def plain_partition(over: Over) -> list[str]:
    """The columns that partition a window as they stand."""
    return [term.column for term in over.partition if term.column is not None]


def over_text(over: Over, child: Relation, more: list[str]) -> str:
    """The window function as SQL; where ties would be told apart by chance, columns decide."""
    by = listed((term.text for term in over.partition), more)
    order = [key.text for key in over.order]
    if over.breaks_ties:
        order += quoted(child.columns)
    inside = " ".join(
        part
        for part in (
            f"PARTITION BY {by}" if by else "",
            f"ORDER BY {listed(order)}" if order else "",
            over.frame,
        )
        if part
    )
    return f"{over.function.text} OVER ({inside})"


def top(node: Top, child: Relation) -> Relation:
    """The first rows at each point; of tuples that enter together, only the first can be in it."""
    order = listed((key.text for key in node.order), quoted(child.columns))
    last = node.skip + node.limit
    between = f"hw_rank > {node.skip} AND hw_rank <= {last}"
    if child.contract.at_start:
        ranked = f"SELECT *, ROW_NUMBER() OVER (ORDER BY {order}) AS hw_rank FROM ({child.sql})"
        shown = listed(quoted(child.columns), FROM_START)
        sql = f"SELECT {shown} FROM ({ranked}) WHERE {between}"
        step = Step("top", "complete", "there from the start", steps([child]))
        return Relation(sql, child.columns, AT_START, step)
    kept = child
    if child.contract.inclusive:
        rank = f"ROW_NUMBER() OVER (PARTITION BY {FROM} ORDER BY {order})"
        sql = (
            f"SELECT {listed(quoted(child.columns), AS_IT_WAS)} FROM "
            f"(SELECT *, {rank} AS hw_rank FROM ({child.sql})) WHERE hw_rank <= {last}"
        )
        kept = Relation(sql, child.columns, child.contract, child.step)
    rank = f"ROW_NUMBER() OVER (PARTITION BY {POINT} ORDER BY {order}) AS hw_rank"
    sql = (
        f"SELECT {listed(quoted(child.columns), AT_POINT)} FROM "
        f"(SELECT *, {rank} FROM ({stabbed(kept)})) WHERE {between}"
    )
    rule = "additive" if child.contract.inclusive else "recompute"
    why = "the first of each point, ranked again" if kept is not child else "tuples leave"
    return Relation(sql, child.columns, MOVING, Step("top", rule, why, steps([child])))


def compare(node: Compare, left: Relation, right: Relation) -> Relation:
    """INTERSECT and EXCEPT at each point by itself."""
    every = " ALL" if node.every else ""
    sides = [left, right]
    if all(side.contract.at_start for side in sides):
        names = listed(quoted(node.names))
        both = f" {node.kind}{every} ".join(f"(SELECT {names} FROM ({s.sql}))" for s in sides)
        sql = f"SELECT {listed(quoted(node.names), FROM_START)} FROM ({both})"
        step = Step(node.kind.lower(), "complete", "there from the start", steps(sides))
        return Relation(sql, node.names, AT_START, step)
    both = f" {node.kind}{every} ".join(f"({stabbed(side, node.names)})" for side in sides)
    sql = f"SELECT {listed(quoted(node.names), AT_POINT)} FROM ({both})"
    step = Step(node.kind.lower(), "recompute", "tuples of both sides come and go", steps(sides))
    return Relation(sql, node.names, MOVING, step)

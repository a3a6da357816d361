"""Outer joins: matches, and rows for as long as they have none."""

from __future__ import annotations

from headway.early.algebra import Inner, Outer
from headway.early.contracts import AT_START, MOVING, Contract
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.relation import AS_IT_WAS, FROM_START, Relation, Step, listed, quoted
from headway.early.rules.inner import inner, listing
from headway.early.rules.rows import steps
from headway.early.rules.semi import Match, agree, semi


def outer(node: Outer, left: Relation, right: Relation) -> Relation:
    """Plain where progress agrees on both sides, else split into matches and rows without one."""
    starts = left.contract.at_start and right.contract.at_start
    if agree(left, right, node.conditions) or starts:
        return plain(node, left, right)
    if not node.full and right.contract.at_start:
        return plain(node, left, right)
    columns = (*left.columns, *right.columns)
    parts = [
        inner(Inner((node.left, node.right), node.conditions), [left, right]),
        semi(Match(left, right, node.conditions, anti=True)),
    ]
    if node.full:
        parts.append(semi(Match(right, left, node.conditions, anti=True)))
    sql = " UNION ALL ".join(
        f"SELECT {with_nulls(part, columns)} FROM ({part.sql})" for part in parts
    )
    why = "matches, and rows while they have none"
    return Relation(sql, columns, MOVING, Step(name_of(node), "split", why, steps([left, right])))


def name_of(node: Outer) -> str:
    return "full join" if node.full else "left join"


def with_nulls(part: Relation, columns: tuple[str, ...]) -> str:
    """All columns of the join; those that a part lacks are NULL in it."""
    shown = (f"`{c}`" if c in part.columns else f"NULL AS `{c}`" for c in columns)
    return listed(shown, AS_IT_WAS)


def plain(node: Outer, left: Relation, right: Relation) -> Relation:
    """Spark's own outer join: whatever is matched enters and leaves with its match."""
    columns = (*left.columns, *right.columns)
    contract = left.contract
    times: list[str] = ["f0 AS " + FROM, "u0 AS " + UNTIL]
    if node.full:
        times = [f"COALESCE(f0, f1) AS {FROM}", f"{FOREVER} AS {UNTIL}"]
        contract = Contract(inclusive=True)
    if left.contract.at_start and right.contract.at_start:
        times, contract = list(FROM_START), AT_START
    on = Match(left, right, node.conditions, anti=False).on
    kind = "FULL" if node.full else "LEFT"
    sql = (
        f"SELECT {listed(quoted(columns), times)} FROM ({listing(left, 0)}) AS l "
        f"{kind} JOIN ({listing(right, 1)}) AS r ON {on}"
    )
    why = "a match is there as long as the row it matches"
    step = Step(name_of(node), "plain", why, steps([left, right]))
    return Relation(sql, columns, contract, step, left.local and right.local)

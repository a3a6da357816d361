"""Operators that look at one tuple at a time: its interval stays as it is."""

from __future__ import annotations

from headway.early.algebra import Constant, Project, Scan, Union, columns_of
from headway.early.contracts import AT_START, Contract
from headway.early.relation import (
    AS_IT_WAS,
    FROM_START,
    Known,
    Relation,
    Step,
    listed,
    quoted,
)


def view_of(table: str) -> str:
    """By what name SQL has a table's tuples of the points of a chunk."""
    return f"`hw_{table}`"


def scan(node: Scan, known: Known) -> Relation:
    """A base table; its contract is the one that it was annotated under."""
    contract = known.tables[node.table].over(
        {column: (f"{node.alias}.{column}",) for column in node.columns}
    )
    shown = (f"`{column}` AS `{node.alias}.{column}`" for column in node.columns)
    times = FROM_START if contract.at_start else AS_IT_WAS
    sql = f"SELECT {listed(shown, times)} FROM {view_of(node.table)}"
    name = node.table if node.alias == node.table else f"{node.table} {node.alias}"
    step, local = Step("scan", name, told(contract)), node.table not in known.anew
    rows = known.rows.get(node.table, 0)
    return Relation(sql, columns_of(node), contract, step, local, rows=rows)


def constant(_node: Constant, _known: Known) -> Relation:
    """One row without columns, there from the start."""
    step = Step("row", "literal", "there from the start")
    return Relation(f"SELECT {listed(FROM_START)}", (), AT_START, step, local=True)


def project(node: Project, child: Relation) -> Relation:
    """New columns from old ones; a key of the contract lives on under its new name."""
    kept: dict[str, list[str]] = {}
    for output in node.outputs:
        if output.term.column is not None:
            kept.setdefault(output.term.column, []).append(output.name)
    shown = [f"{output.term.text} AS `{output.name}`" for output in node.outputs]
    sql = f"SELECT {listed(shown, AS_IT_WAS)} FROM ({child.sql})"
    return Relation(sql, columns_of(node), child.contract.over(kept), child.step, child.local)


def union(node: Union, children: list[Relation]) -> Relation:
    """All tuples of each side; what holds of every side's progress holds of the whole."""
    contracts = [child.contract for child in children]
    same = {contract.function for contract in contracts if not contract.at_start}
    moving = [contract.keys for contract in contracts if not contract.at_start]
    no_start = len(moving) == len(contracts)
    keys = frozenset.intersection(*moving) if len(same) == 1 and no_start else frozenset()
    contract = Contract(
        at_start=not moving,
        inclusive=all(contract.inclusive for contract in contracts),
        keys=keys,
        function=next(iter(same)) if keys else "",
    )
    shown = listed(quoted(node.names), AS_IT_WAS)
    sql = " UNION ALL ".join(f"SELECT {shown} FROM ({child.sql})" for child in children)
    step = Step("union", "additive", "tuples keep their intervals", steps(children))
    settled = all(child.local for child in children) and len(moving) in (0, len(children))
    return Relation(sql, node.names, contract, step, settled)


def steps(children: list[Relation]) -> tuple[Step, ...]:
    return tuple(child.step for child in children)


def told(contract: Contract) -> str:
    """A contract in words."""
    if contract.at_start:
        return "all tuples from the start"
    leaving = "" if contract.inclusive else ", tuples leave"
    if not contract.keys:
        return f"progress by tuple{leaving}"
    key = ", ".join(min(contract.keys))
    return f"progress follows {key}{leaving}"

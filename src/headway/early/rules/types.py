"""The types of columns, as far as they are known without asking Spark.

Those of tables are; they are followed through whatever takes columns as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.early.algebra import (
    Call,
    Compare,
    Group,
    Node,
    Output,
    Project,
    Scan,
    Semi,
    Union,
    children_of,
    columns_of,
)
from headway.early.rules.parts import known_types

Types = Mapping[str, str]


def flat_types(node: Node, tables: Mapping[str, Types]) -> dict[str, str]:
    """The types of the columns of tables, by the names that a query knows them by."""
    if isinstance(node, Scan):
        types = {name.lower(): kind for name, kind in tables[node.table].items()}
        return {f"{node.alias}.{column}": types[column] for column in node.columns}
    found: dict[str, str] = {}
    for one in children_of(node):
        found |= flat_types(one, tables)
    return found


def types_below(node: Node, tables: Mapping[str, Types]) -> dict[str, str]:
    """The types of a relation's columns, given those of the columns of tables."""
    under = [types_below(one, tables) for one in children_of(node)]
    return column_types(node, under, flat_types(node, tables))


def column_types(node: Node, under: Sequence[Types], scanned: Types) -> dict[str, str]:
    """The types of an operator's columns, given those of the relations under it."""
    match node:
        case Scan():
            return {name: scanned[name] for name in columns_of(node) if name in scanned}
        case Project(outputs=outputs):
            return taken(outputs, under[0])
        case Group(keys=keys, calls=calls):
            return taken(keys, under[0]) | aggregated(calls, under[0])
        case Union() | Compare():
            return agreed(under)
        case Semi():
            return dict(under[0])
        case _:
            return {name: kind for types in under for name, kind in types.items()}


def taken(outputs: Sequence[Output], types: Types) -> dict[str, str]:
    """The types of outputs that are columns as they stand."""
    kinds = {output.name: types.get(output.term.column or "", "") for output in outputs}
    return {name: kind for name, kind in kinds.items() if kind}


def aggregated(calls: Sequence[Call], types: Types) -> dict[str, str]:
    """The types of aggregates that are functions of a column alone."""
    found = {call.name: known_types(call, types) for call in calls}
    return {name: kinds[-1] for name, kinds in found.items() if kinds is not None}


def agreed(under: Sequence[Types]) -> dict[str, str]:
    """What all relations have the same type for; of others Spark makes a wider one."""
    first, *others = under
    return {n: kind for n, kind in first.items() if all(one.get(n) == kind for one in others)}

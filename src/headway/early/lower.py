"""From the algebra to Spark SQL that answers at every point of a chunk at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from headway.early.algebra import (
    Call,
    Compare,
    Condition,
    Constant,
    Group,
    Inner,
    Node,
    Order,
    Outer,
    Output,
    Over,
    Project,
    Query,
    Scan,
    Semi,
    Term,
    Top,
    Union,
    Windows,
    children_of,
)
from headway.early.relation import AS_IT_WAS, Known, Relation, listed, quoted
from headway.early.rules.group import group
from headway.early.rules.inner import inner
from headway.early.rules.ordered import compare, top, windows
from headway.early.rules.outer import outer
from headway.early.rules.rows import constant, project, scan, union
from headway.early.rules.semi import Match, not_in, semi
from headway.early.rules.types import column_types


def lower_query(query: Query, known: Known) -> Relation:
    """The whole query: shown columns first, then those that order them, then progress."""
    relation = lower(pruned(query), known)
    hidden = [o.term.columns for o in query.order]
    more = [c for columns in hidden for c in columns if c not in query.shown]
    shown = (*query.shown, *dict.fromkeys(more))
    sql = f"SELECT {listed(quoted(shown), AS_IT_WAS)} FROM ({relation.sql})"
    return replace(relation, sql=sql, columns=shown)


def lower(node: Node, known: Known) -> Relation:
    """One operator by its rule, after those under it; what they keep, it keeps."""
    under = [lower(one, known) for one in children_of(node)]
    types = column_types(node, [one.types for one in under], known.columns)
    found = replace(by_rule(node, under, known), types=types)
    if not all(one.as_asked for one in under):
        found = replace(found, as_asked=False)
    if found.states:
        return replace(found, settled=True)
    states = dict.fromkeys(state for one in under for state in one.states)
    settled = all(one.settled for one in under) if under else found.contract.at_start
    return replace(found, states=tuple(states), settled=settled)


def by_rule(node: Node, under: list[Relation], known: Known) -> Relation:
    """The rule of an operator."""
    match node:
        case Scan():
            return scan(node, known)
        case Constant():
            return constant(node, known)
        case Inner():
            return inner(node, under)
        case Outer():
            return outer(node, *under)
        case Semi(conditions=conditions, anti=anti):
            match_ = Match(under[0], under[1], conditions, anti)
            return not_in(match_) if node.unknown_is_match else semi(match_)
        case Group():
            return group(node, under[0], known)
        case Project():
            return project(node, *under)
        case Union():
            return union(node, under)
        case Compare():
            return compare(node, *under)
        case Windows():
            return windows(node, *under)
        case Top():
            return top(node, *under)


def pruned(query: Query) -> Node:
    """The query's relation with only those columns of tables that something reads."""
    used = set(read_columns(query.node)) | set(query.shown)

    def keep(node: Node) -> Node:
        if isinstance(node, Scan):
            kept = tuple(c for c in node.columns if f"{node.alias}.{c}" in used)
            return replace(node, columns=kept)
        changes: dict[str, Any] = {}
        for field in fields(node):
            value = getattr(node, field.name)
            if isinstance(value, Node):
                changes[field.name] = keep(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Node):
                changes[field.name] = tuple(keep(one) for one in value)
        return replace(node, **changes) if changes else node

    return keep(query.node)


def read_columns(value: object) -> Iterator[str]:
    """Every column that an expression anywhere below reads."""
    if isinstance(value, Term):
        yield from value.columns
    elif isinstance(value, frozenset):
        yield from value
    elif isinstance(value, tuple):
        for one in value:
            yield from read_columns(one)
    elif isinstance(value, Node | Condition | Output | Order | Over | Call):
        for field in fields(value):
            yield from read_columns(getattr(value, field.name))

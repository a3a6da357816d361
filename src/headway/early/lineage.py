"""Provenance: the query whose rows are the tuples behind a row of an answer (paper 5, section 2.3).

A row is followed from the shown columns down to the group that made it; the tuples behind it are
those of the group's input that share the keys of the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp

from headway.early.algebra import (
    Group,
    Inner,
    Node,
    Outer,
    Output,
    Project,
    Query,
    Scan,
    Semi,
    Term,
    Top,
    Windows,
)
from headway.early.lower import lower
from headway.early.relation import Known
from headway.errors import QueryError


def behind(query: Query, known: Known, wanted: tuple[str, ...]) -> dict[str, str]:
    """For each base table the SQL of its tuples behind a row, beside the row's wanted columns."""
    node, terms = descend(query.node, [Term(f"`{name}`", frozenset({name})) for name in wanted])
    relation = lower(node, known)
    keys = [f"{term.text} AS hw_key_of_row_{n}" for n, term in enumerate(terms)]
    traced: dict[str, list[str]] = {}
    for scan in scans(node):
        shown = [f"`{scan.alias}.{column}` AS `{column}`" for column in scan.columns]
        sql = f"SELECT {', '.join([*shown, *keys])} FROM ({relation.sql})"
        traced.setdefault(scan.table, []).append(sql)
    return {table: " UNION ALL ".join(parts) for table, parts in traced.items()}


def descend(node: Node, terms: list[Term]) -> tuple[Node, list[Term]]:
    """Follow columns down to the relation whose tuples made them."""
    match node:
        case Top(child=child) | Windows(child=child):
            return descend(child, terms)
        case Project(child=child, outputs=outputs):
            return descend(child, [through(term, outputs) for term in terms])
        case Inner(sources=(child,)) if isinstance(child, Group | Project | Inner):
            return descend(child, terms)
        case Inner(sources=sources, conditions=()) if isinstance(sources[0], Group):
            return descend(sources[0], terms)
        case Group(child=child, keys=keys, calls=calls):
            made = {call.name for call in calls}
            if any(term.columns & made for term in terms):
                raise QueryError("say which row by the columns it is grouped by, not by a total")
            return child, [through(term, keys) for term in terms]
        case _:
            return node, terms


def through(term: Term, outputs: tuple[Output, ...]) -> Term:
    """A term over outputs as a term over what they are made of."""
    made: Mapping[str, Term] = {output.name: output.term for output in outputs}

    def put(tree: exp.Expr) -> exp.Expr:
        if isinstance(tree, exp.Column) and tree.name in made:
            return exp.Paren(this=sqlglot.parse_one(made[tree.name].text, dialect="spark"))
        return tree

    changed = sqlglot.parse_one(term.text, dialect="spark").transform(put)
    columns = frozenset(column.name for column in changed.find_all(exp.Column))
    return Term(changed.sql("spark"), columns)


def scans(node: Node) -> Iterator[Scan]:
    """The base tables whose columns a relation still has."""
    match node:
        case Scan():
            yield node
        case Inner(sources=sources):
            for source in sources:
                yield from scans(source)
        case Semi(left=left):
            yield from scans(left)
        case Outer(left=left, right=right):
            yield from scans(left)
            yield from scans(right)
        case _:
            return

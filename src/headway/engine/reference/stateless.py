"""Steps without memory: select, filter and merge, record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from headway.engine.reference.gate import conform
from headway.engine.reference.records import Piece
from headway.engine.reference.sql.compile import compile_text, compile_tree
from headway.engine.reference.sql.parse import parse_named
from headway.engine.reference.sql.typed import Typed
from headway.engine.reference.sql.types import SqlFault, Type, meet
from headway.errors import FlowError
from headway.flow.expression import Expression
from headway.flow.steps import Filter, Map, Merge

Columns = Mapping[str, Type]
Work = Callable[[Sequence[Piece]], list[Piece]]


def prepare_filter(step: Filter, columns: Columns) -> Work:
    """The work of a filter; the columns stay as they are."""
    condition = compile_text(step.where.text, columns)

    def work(pieces: Sequence[Piece]) -> list[Piece]:
        return [piece for piece in pieces if value_of(condition, piece, step.where.text) is True]

    return work


def prepare_map(step: Map, columns: Columns) -> tuple[Work, Columns]:
    """The work of a map, and the columns after it."""
    made: dict[str, Selected] = {}
    for expression in step.select:
        if expression.is_star:
            made |= {name: Selected(compile_text(f"`{name}`", columns), name) for name in columns}
        else:
            made[expression.name or expression.text] = select(expression, columns)
    if sum(one.generator is not None for one in made.values()) > 1:
        raise FlowError(f"map {step.name!r} has two generators, and Spark allows one in a select")

    def work(pieces: Sequence[Piece]) -> list[Piece]:
        return [
            Piece(piece.time_us, piece.order, row)
            for piece in pieces
            for row in rows_of(made, piece)
        ]

    return work, {name: one.type for name, one in made.items()}


class Selected:
    """One expression of a select; a generator gives a list, one item for each row it makes."""

    def __init__(self, typed: Typed, text: str, generator: str | None = None) -> None:
        self.typed, self.text, self.generator = typed, text, generator
        self.type = typed.type.inner[0] if generator else typed.type


def select(expression: Expression, columns: Columns) -> Selected:
    """One expression of a select, ready to run."""
    tree = parse_named(expression.text)
    name = str(tree.name).lower() if isinstance(tree, exp.Anonymous) else ""
    if not expression.generator:
        return Selected(compile_tree(tree, columns), expression.text)
    if name not in ("explode", "explode_outer"):
        raise FlowError(
            f"the reference engine does not know the generator in {expression.text!r}; it knows "
            "explode and explode_outer, and each must stand alone in its expression"
        )
    array = compile_tree(tree.expressions[0], columns)
    if array.type.kind != "array":
        raise FlowError(f"{expression.text!r} explodes a {array.type}; it needs an array")
    return Selected(array, expression.text, name)


def rows_of(made: Mapping[str, Selected], piece: Piece) -> Iterable[dict[str, Any]]:
    """The rows that a select makes of one record."""
    row = {name: value_of(one.typed, piece, one.text) for name, one in made.items()}
    for name, one in made.items():
        if one.generator:
            nothing = [None] if one.generator == "explode_outer" else []
            return [{**row, name: item} for item in row[name] or nothing]
    return [row]


def value_of(typed: Typed, piece: Piece, text: str) -> Any:
    """An expression's value; where it has none, the error shows the record."""
    try:
        return typed.of(piece.row)
    except SqlFault as fault:
        raise SqlFault(f"{text!r} failed on record {piece.row!r}: {fault}") from None


def prepare_merge(step: Merge, above: Sequence[Columns]) -> tuple[Work, Columns]:
    """The work of a merge, and the columns after it; numbers meet in the wider type."""
    columns = dict(above[0])
    for other in above[1:]:
        for name in columns:
            kind = meet(columns[name], other[name]) if name in other else None
            if len(columns) != len(other) or kind is None:
                raise FlowError(
                    f"merge {step.name!r} needs the same columns on all sides; got "
                    f"{describe(columns)} and {describe(other)}. Put .map(...) before it"
                )
            if kind != columns[name] and not kind.numeric:
                raise FlowError(f"merge {step.name!r} has two types of {name!r}; cast one of them")
            columns[name] = kind

    def work(pieces: Sequence[Piece]) -> list[Piece]:
        return [
            Piece(
                piece.time_us,
                piece.order,
                {name: conform(value, columns[name]) for name, value in piece.row.items()},
            )
            for piece in pieces
        ]

    return work, columns


def describe(columns: Columns) -> str:
    """Columns as a person would declare them."""
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())

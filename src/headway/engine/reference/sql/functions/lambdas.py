"""Functions that take a function: ``transform(words, w -> lower(w))`` and its kin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from sqlglot import exp

from headway.engine.reference.sql.functions.arrays import items_type
from headway.engine.reference.sql.typed import Scope, Typed, cast, meeting
from headway.engine.reference.sql.types import BOOLEAN, INT, Type, array_of
from headway.errors import FlowError

Columns = Mapping[str, Type]
Compile = Callable[[exp.Expression, Columns], Typed]
Higher = Callable[[Sequence[exp.Expression], Columns, Compile], Typed]


class Bound:
    """A lambda whose parameters have types: `type` of its result, and a call in a scope."""

    def __init__(
        self, tree: exp.Expression, kinds: Sequence[Type], columns: Columns, build: Compile
    ) -> None:
        if not isinstance(tree, exp.Lambda) or len(tree.expressions) > len(kinds):
            raise FlowError(f"{tree.sql('spark')!r} is not a lambda of {len(kinds)} parameters")
        self.names = [parameter.name for parameter in tree.expressions]
        inner = {**columns, **dict(zip(self.names, kinds, strict=False))}
        self.body = build(tree.this, inner)

    def __call__(self, scope: Scope, *values: Any) -> Any:
        return self.body.of({**scope, **dict(zip(self.names, values, strict=False))})


def over_items(pick: Callable[[list[Any], list[Any]], Any], result: Type | None) -> Higher:
    """A function of an array's items and what the lambda says of each."""

    def build(args: Sequence[exp.Expression], columns: Columns, compiled: Compile) -> Typed:
        array = compiled(args[0], columns)
        body = Bound(args[1], (items_type(array), INT), columns, compiled)

        def of(scope: Scope) -> Any:
            items = array.of(scope)
            if items is None:
                return None
            return pick(items, [body(scope, item, place) for place, item in enumerate(items)])

        return Typed(result or array.type, of)

    return build


def transform(args: Sequence[exp.Expression], columns: Columns, compiled: Compile) -> Typed:
    """Each item, changed by the lambda."""
    array = compiled(args[0], columns)
    body = Bound(args[1], (items_type(array), INT), columns, compiled)
    made = over_items(lambda _, found: found, array_of(body.body.type))
    return made(args, columns, compiled)


def fold(args: Sequence[exp.Expression], columns: Columns, compiled: Compile) -> Typed:
    """aggregate(array, start, (sum, item) -> ..., sum -> ...)."""
    array, start = compiled(args[0], columns), compiled(args[1], columns)
    body = Bound(args[2], (start.type, items_type(array)), columns, compiled)
    meeting([start, body.body], "aggregate")
    finish = Bound(args[3], (start.type,), columns, compiled) if len(args) > 3 else None
    back = cast(Typed(body.body.type, lambda scope: scope["made"]), start.type)

    def of(scope: Scope) -> Any:
        items = array.of(scope)
        if items is None:
            return None
        total = reduce(
            lambda sofar, item: back.of({"made": body(scope, sofar, item)}), items, start.of(scope)
        )
        return finish(scope, total) if finish else total

    return Typed(finish.body.type if finish else start.type, of)


def some(_: list[Any], said: list[Any]) -> bool | None:
    """Whether the lambda holds for an item; unknown where it may."""
    return True if True in said else None if None in said else False


def every(_: list[Any], said: list[Any]) -> bool | None:
    """Whether the lambda holds for each item; unknown where it may not."""
    return False if False in said else None if None in said else True


def kept(items: list[Any], said: list[Any]) -> list[Any]:
    """The items for which the lambda holds."""
    return [item for item, good in zip(items, said, strict=True) if good]


HIGHER_ORDER: dict[str, Higher] = {
    "transform": transform,
    "filter": over_items(kept, None),
    "exists": over_items(some, BOOLEAN),
    "forall": over_items(every, BOOLEAN),
    "aggregate": fold,
    "reduce": fold,
}

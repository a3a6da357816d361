"""An expression made ready to run: its type, and the function from a record to its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway.engine.reference.sql.casts import converter
from headway.engine.reference.sql.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    meet,
)
from headway.errors import FlowError

Scope = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Typed:
    """A compiled expression; `literal` when it stands in the text as a bare number or text."""

    type: Type
    of: Callable[[Scope], Any]
    literal: bool = False


Rule = Callable[[Sequence[Typed]], Typed]
NAMED = {
    "string": STRING, "int": INT, "bigint": BIGINT, "double": DOUBLE, "boolean": BOOLEAN,
    "binary": BINARY, "date": DATE, "timestamp": TIMESTAMP,
}  # fmt: skip


def constant(kind: Type, value: Any) -> Typed:
    """An expression that is always one value."""
    return Typed(kind, lambda _: value, literal=True)


def cast(arg: Typed, to: Type) -> Typed:
    """The same expression as another type, by the rules of an ANSI cast."""
    if arg.type == to:
        return arg
    convert = converter(arg.type, to)
    value_of = arg.of

    def of(scope: Scope) -> Any:
        value = value_of(scope)
        return None if value is None else convert(value)

    return Typed(to, of, arg.literal)


def meeting(args: Sequence[Typed], what: str) -> list[Typed]:
    """The arguments, all cast to the type in which they meet."""
    kind = args[0].type
    for arg in args[1:]:
        met = meet(kind, arg.type)
        if met is None:
            raise FlowError(f"{what} needs arguments of like types; got {kind} and {arg.type}")
        kind = met
    return [cast(arg, kind) for arg in args]


def strictly(kind: Type, args: Sequence[Typed], call: Callable[..., Any]) -> Typed:
    """A call that is null as soon as one argument is."""
    values_of = [arg.of for arg in args]

    def of(scope: Scope) -> Any:
        values = [value_of(scope) for value_of in values_of]
        return None if any(value is None for value in values) else call(*values)

    return Typed(kind, of)


def strict(signature: str, call: Callable[..., Any]) -> Rule:
    """A function by its signature, such as ``"string, int, [string] -> string"``.

    Arguments are cast to what the signature says, as Spark does; those in brackets may be left out.
    """
    takes, _, gives = signature.partition("->")
    names = [name.strip() for name in takes.split(",") if name.strip()]
    needed = [name for name in names if not name.startswith("[")]
    kinds = [NAMED[name.strip("[]")] for name in names]

    def rule(args: Sequence[Typed]) -> Typed:
        if not len(needed) <= len(args) <= len(kinds):
            raise FlowError(f"wants the arguments ({takes.strip()}); got {len(args)} of them")
        cast_args = [cast(arg, kind) for arg, kind in zip(args, kinds, strict=False)]
        return strictly(NAMED[gives.strip()], cast_args, call)

    return rule


def call_rule(name: str, rule: Rule, args: Sequence[Typed]) -> Typed:
    """Apply a rule; a complaint about the arguments names the function."""
    try:
        return rule(args)
    except FlowError as error:
        raise FlowError(f"{name}: {error}") from None

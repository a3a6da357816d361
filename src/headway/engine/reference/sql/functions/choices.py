"""Functions that choose among values or look at nulls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from headway.engine.reference.sql.order import rank
from headway.engine.reference.sql.typed import Rule, Scope, Typed, cast, meeting
from headway.engine.reference.sql.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    Type,
    decimal,
)
from headway.errors import FlowError


def coalesce(args: Sequence[Typed]) -> Typed:
    """The first value that is not null."""
    among = meeting(args, "coalesce")

    def of(scope: Scope) -> Any:
        found = (arg.of(scope) for arg in among)
        return next((value for value in found if value is not None), None)

    return Typed(among[0].type, of)


def nullif(args: Sequence[Typed]) -> Typed:
    """The first value, or null if it equals the second."""
    first = args[0]
    one, other = meeting(args, "nullif")

    def of(scope: Scope) -> Any:
        value, against = one.of(scope), other.of(scope)
        if value is None or (against is not None and rank(value) == rank(against)):
            return None
        return first.of(scope)

    return Typed(first.type, of)


def nvl2(args: Sequence[Typed]) -> Typed:
    """The second value where the first is not null, else the third."""
    test, *rest = args
    then, other = meeting(rest, "nvl2")
    return Typed(then.type, lambda s: then.of(s) if test.of(s) is not None else other.of(s))


def conditional(args: Sequence[Typed]) -> Typed:
    """The second value where the first is true, else the third."""
    test = cast(args[0], BOOLEAN)
    then, other = meeting(args[1:], "if")
    return Typed(then.type, lambda s: then.of(s) if test.of(s) else other.of(s))


def extreme(largest: bool) -> Rule:
    """The largest or least of the values that are not null."""

    def rule(args: Sequence[Typed]) -> Typed:
        if len(args) < 2:
            raise FlowError("wants at least two arguments")
        kinds = {arg.type.kind for arg in args} - {"void"}
        if "string" in kinds and len(kinds) > 1:
            raise FlowError(f"wants arguments of one type; got {', '.join(sorted(kinds))}")
        among = meeting(args, "greatest or least")
        pick = max if largest else min

        def of(scope: Scope) -> Any:
            found = [value for arg in among if (value := arg.of(scope)) is not None]
            return pick(found, key=rank) if found else None

        return Typed(among[0].type, of)

    return rule


def null_test(wanted: bool) -> Rule:
    """Whether a value is null, or is not."""
    return lambda args: Typed(BOOLEAN, lambda scope: (args[0].of(scope) is None) is wanted)


def is_nan(args: Sequence[Typed]) -> Typed:
    """Whether a number is NaN; false for null."""
    number = cast(args[0], DOUBLE)

    def of(scope: Scope) -> bool:
        value = number.of(scope)
        return value is not None and math.isnan(value)

    return Typed(BOOLEAN, of)


def to_type(kind: Type) -> Rule:
    """A cast written as a function, such as ``int(x)``."""
    return lambda args: cast(args[0], kind)


CAST_NAMES = {
    kind.kind: to_type(kind)
    for kind in (TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BOOLEAN, BINARY)
}
CHOICES: dict[str, Rule] = {
    **CAST_NAMES,
    "decimal": to_type(decimal(10, 0)),
    "coalesce": coalesce,
    "nvl": coalesce,
    "ifnull": coalesce,
    "nvl2": nvl2,
    "nullif": nullif,
    "if": conditional,
    "greatest": extreme(largest=True),
    "least": extreme(largest=False),
    "isnull": null_test(wanted=True),
    "isnotnull": null_test(wanted=False),
    "isnan": is_nan,
}

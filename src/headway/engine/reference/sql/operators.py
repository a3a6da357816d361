"""Logic and comparison with three truth values: true, false and unknown (None)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headway.engine.reference.sql.order import rank
from headway.engine.reference.sql.typed import Scope, Typed, cast, meeting, strictly
from headway.engine.reference.sql.types import BOOLEAN

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: rank(left) == rank(right),
    "<>": lambda left, right: rank(left) != rank(right),
    "<": lambda left, right: rank(left) < rank(right),
    "<=": lambda left, right: rank(left) <= rank(right),
    ">": lambda left, right: rank(left) > rank(right),
    ">=": lambda left, right: rank(left) >= rank(right),
}


def compare(sign: str, left: Typed, right: Typed) -> Typed:
    """A comparison in the type where both sides meet; unknown if one side is null."""
    return strictly(BOOLEAN, meeting([left, right], sign), COMPARISONS[sign])


def same_or_both_null(left: Typed, right: Typed) -> Typed:
    """The comparison ``<=>``, which is never unknown."""
    one, other = meeting([left, right], "<=>")
    return Typed(BOOLEAN, lambda scope: rank(one.of(scope)) == rank(other.of(scope)))


def both(left: Typed, right: Typed) -> Typed:
    """AND: false as soon as one side is, even where the other is unknown."""
    one, other = cast(left, BOOLEAN).of, cast(right, BOOLEAN).of

    def of(scope: Scope) -> bool | None:
        first = one(scope)
        if first is False:
            return False
        second = other(scope)
        if second is False:
            return False
        return None if first is None or second is None else True

    return Typed(BOOLEAN, of)


def either(left: Typed, right: Typed) -> Typed:
    """OR: true as soon as one side is, even where the other is unknown."""
    return negate(both(negate(left), negate(right)))


def negate(arg: Typed) -> Typed:
    """NOT."""
    return strictly(BOOLEAN, [cast(arg, BOOLEAN)], lambda value: not value)


def is_null(arg: Typed) -> Typed:
    """Whether a value is missing."""
    return Typed(BOOLEAN, lambda scope: arg.of(scope) is None)


def member(needle: Typed, options: Sequence[Typed]) -> Typed:
    """IN: unknown rather than false where a null could have been the needle."""
    sought, *among = meeting([needle, *options], "IN")

    def of(scope: Scope) -> bool | None:
        value = sought.of(scope)
        if value is None:
            return None
        found = [option.of(scope) for option in among]
        if any(item is not None and rank(item) == rank(value) for item in found):
            return True
        return None if any(item is None for item in found) else False

    return Typed(BOOLEAN, of)


def choose(cases: Sequence[tuple[Typed, Typed]], default: Typed) -> Typed:
    """CASE: the value of the first condition that is true."""
    *values, otherwise = meeting([*(value for _, value in cases), default], "CASE")
    pairs = [
        (cast(condition, BOOLEAN).of, value.of)
        for (condition, _), value in zip(cases, values, strict=True)
    ]

    def of(scope: Scope) -> Any:
        for holds, value in pairs:
            if holds(scope):
                return value(scope)
        return otherwise.of(scope)

    return Typed(otherwise.type, of)

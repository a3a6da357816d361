"""Arithmetic as Spark types it: whole numbers that must not overflow, doubles, decimals, times."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from headway.engine.reference.sql.casts import EXACT, fit, in_range, to_float
from headway.engine.reference.sql.typed import Typed, cast, strictly
from headway.engine.reference.sql.types import (
    BIGINT,
    DATE,
    DAYS,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    SqlFault,
    Type,
    as_decimal,
    decimal,
    meet_numbers,
)
from headway.errors import FlowError


def compute(sign: str, left: Typed, right: Typed) -> Typed:
    """One of ``+ - * / % div`` between two expressions."""
    timed = compute_times(sign, left, right)
    if timed is not None:
        return timed
    left, right = numbers(sign, left, right)
    if sign == "div":
        return whole_division(left, right)
    if "decimal" in (left.type.kind, right.type.kind) and not (
        left.type.fractional or right.type.fractional
    ):
        return compute_decimals(sign, left, right)
    kind = DOUBLE if sign == "/" else meet_numbers(left.type, right.type)
    args = [cast(left, kind), cast(right, kind)]
    if kind.integral:
        call = WHOLE[sign]
        return strictly(kind, args, lambda a, b: in_range(call(a, b), kind))
    if kind == FLOAT:
        return strictly(kind, args, lambda a, b: to_float(FLOATING[sign](a, b)))
    return strictly(kind, args, FLOATING[sign])


def numbers(sign: str, left: Typed, right: Typed) -> tuple[Typed, Typed]:
    """Both sides as numbers: text becomes bigint beside a whole number, else double."""
    sides = []
    for side, other in ((left, right), (right, left)):
        if side.type == STRING:
            side = cast(side, BIGINT if other.type.integral and sign != "/" else DOUBLE)
        elif side.type.kind == "void":
            side = cast(side, other.type if other.type.numeric else DOUBLE)
        if not side.type.numeric:
            raise FlowError(f"'{sign}' is not defined for {left.type} and {right.type}")
        sides.append(side)
    return sides[0], sides[1]


def not_zero(divisor: Any) -> None:
    """Refuse a division by zero, as ANSI mode does for doubles too."""
    if divisor == 0:
        raise SqlFault("division by zero; use try_divide or nullif(x, 0) to get NULL instead")


def remainder(left: int, right: int) -> int:
    """The rest of a division, with the sign of what was divided."""
    not_zero(right)
    return left - right * truncated(left, right)


def truncated(left: int, right: int) -> int:
    """A division rounded towards zero."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def double_division(left: float, right: float) -> float:
    """A division of doubles."""
    not_zero(right)
    try:
        return left / right
    except OverflowError:
        return math.copysign(math.inf, left) * math.copysign(1, right)


def double_remainder(left: float, right: float) -> float:
    """The rest of a division of doubles, with the sign of what was divided."""
    not_zero(right)
    return math.nan if math.isinf(left) else math.fmod(left, right)


WHOLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": remainder,
}
FLOATING: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": double_division,
    "%": double_remainder,
}


def whole_division(left: Typed, right: Typed) -> Typed:
    """``div``: the whole part of a quotient, as a bigint."""

    def divide(a: Any, b: Any) -> int:
        not_zero(b)
        quotient = truncated(a, b) if isinstance(a, int) and isinstance(b, int) else int(
            EXACT.divide_int(Decimal(a), Decimal(b))
        )  # fmt: skip
        return in_range(quotient, BIGINT)

    if left.type.fractional or right.type.fractional:
        raise FlowError(f"'div' is not defined for {left.type} and {right.type}")
    return strictly(BIGINT, [left, right], divide)


def compute_decimals(sign: str, left: Typed, right: Typed) -> Typed:
    """Decimal arithmetic with the precision and scale that Spark gives its result."""
    one, other = decimal_type(left), decimal_type(right)
    kind = decimal_result(sign, one, other)
    args = [cast(left, one), cast(right, other)]
    return strictly(kind, args, lambda a, b: fit(DECIMAL[sign](a, b), kind))


def decimal_type(arg: Typed) -> Type:
    """The decimal type of a side; a literal has only as many digits as it shows."""
    if arg.literal and arg.type.integral:
        return decimal(len(str(abs(arg.of({})))), 0)
    return as_decimal(arg.type)


def decimal_result(sign: str, left: Type, right: Type) -> Type:
    """The type of a decimal result (Spark's DecimalPrecision rules)."""
    before = (left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    if sign in "+-":
        return decimal(max(before) + scale + 1, scale)
    if sign == "*":
        return decimal(left.precision + right.precision + 1, left.scale + right.scale)
    if sign == "/":
        fine = max(6, left.scale + right.precision + 1)
        return decimal(before[0] + right.scale + fine, fine)
    return decimal(min(before) + scale, scale)


def decimal_division(left: Decimal, right: Decimal) -> Decimal:
    """A quotient with digits to spare."""
    not_zero(right)
    return EXACT.divide(left, right)


def decimal_remainder(left: Decimal, right: Decimal) -> Decimal:
    """The rest of a division, with the sign of what was divided."""
    not_zero(right)
    return EXACT.remainder(left, right)


DECIMAL: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
    "/": decimal_division,
    "%": decimal_remainder,
}


def compute_times(sign: str, left: Typed, right: Typed) -> Typed | None:
    """Arithmetic with timestamps, dates and intervals; None where neither side is one."""
    spans = (INTERVAL, DAYS)
    if sign == "+" and left.type in spans:
        left, right = right, left
    first, second = left.type, right.type
    if sign not in "+-" or not {TIMESTAMP, DATE, *spans} & {first, second}:
        return None
    way = 1 if sign == "+" else -1
    if (first, second) in ((DATE, INT), (DATE, DAYS)):
        days = right if second == INT else strictly(INT, [right], lambda span: span.days)
        return strictly(DATE, [left, days], lambda day, n: shift_days(day, way * n))
    if first in (TIMESTAMP, DATE) and second in spans:
        since = cast(left, TIMESTAMP)
        return strictly(TIMESTAMP, [since, right], lambda when, span: when + way * span)
    if first in spans and second in spans:
        kind = first if first == second else INTERVAL
        return strictly(kind, [left, right], lambda one, other: one + way * other)
    if sign == "-" and (first, second) in ((TIMESTAMP, TIMESTAMP), (DATE, DATE)):
        kind = INTERVAL if first == TIMESTAMP else DAYS
        return strictly(kind, [left, right], lambda one, other: one - other)
    raise FlowError(f"'{sign}' is not defined for {left.type} and {right.type}")


def shift_days(day: date, days: int) -> date:
    """A date so many days on."""
    return day + timedelta(days=days)


def negative(arg: Typed) -> Typed:
    """A number, or interval, with its sign turned."""
    kind = DOUBLE if arg.type == STRING else arg.type
    value = cast(arg, kind)
    if kind.integral:
        turned = strictly(kind, [value], lambda number: in_range(-number, kind))
    else:
        turned = strictly(kind, [value], lambda number: -number)
    return Typed(turned.type, turned.of, arg.literal)

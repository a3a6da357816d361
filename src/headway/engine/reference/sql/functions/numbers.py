"""Functions of numbers; roundings go half away from zero unless their name says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

from headway.engine.reference.sql.arithmetic import compute, negative, not_zero, remainder
from headway.engine.reference.sql.casts import WIDE, fit, in_range, refused, to_float
from headway.engine.reference.sql.typed import Rule, Scope, Typed, cast, meeting, strict, strictly
from headway.engine.reference.sql.types import (
    BIGINT,
    DOUBLE,
    INT,
    SqlFault,
    Type,
    decimal,
)
from headway.errors import FlowError


def number(arg: Typed) -> Typed:
    """An argument as a number: text is read as a double."""
    if arg.type.kind in ("string", "void"):
        return cast(arg, DOUBLE)
    if not arg.type.numeric:
        raise FlowError(f"wants a number; got {arg.type}")
    return arg


def absolute(args: Sequence[Typed]) -> Typed:
    """A number without its sign."""
    arg = number(args[0])
    if arg.type.integral:
        return strictly(arg.type, [arg], lambda value: in_range(abs(value), arg.type))
    return strictly(arg.type, [arg], abs)


def rounding(mode: str) -> Rule:
    """round and bround: to so many digits after the point, which may be negative."""

    def rule(args: Sequence[Typed]) -> Typed:
        arg = number(args[0])
        digits = cast(args[1], INT).of({}) if len(args) > 1 else 0
        if arg.type.kind == "decimal":
            kind = rounded_type(arg.type, digits)
            return strictly(kind, [arg], lambda value: fit(quantized(value, digits, mode), kind))
        if arg.type.integral:
            kind = arg.type
            return strictly(
                kind,
                [arg],
                lambda value: in_range(int(quantized(value, min(digits, 0), mode)), kind),
            )
        narrow = to_float if arg.type.kind == "float" else float
        return strictly(arg.type, [arg], lambda value: narrow(round_double(value, digits, mode)))

    return rule


def rounded_type(kind: Type, digits: int) -> Type:
    """The type of a decimal after it was rounded."""
    whole = kind.precision - kind.scale + 1
    if digits < 0:
        return decimal(max(whole, -digits + 1), 0)
    scale = min(kind.scale, digits)
    return decimal(whole + scale, scale)


def quantized(value: Any, digits: int, mode: str) -> Decimal:
    """A number rounded to so many digits after the point."""
    return Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=mode, context=WIDE)


def round_double(value: float, digits: int, mode: str) -> float:
    """A double rounded by the digits that it is written with."""
    if math.isnan(value) or math.isinf(value):
        return value
    return float(quantized(Decimal(repr(value)), digits, mode))


def to_whole(mode: str) -> Rule:
    """floor and ceil: a bigint, or a decimal of a decimal."""

    def rule(args: Sequence[Typed]) -> Typed:
        arg = number(args[0])
        if len(args) > 1:
            raise FlowError("the reference engine knows it with one argument only")
        if arg.type.kind == "decimal":
            kind = decimal(arg.type.precision - arg.type.scale + 1, 0)
            return strictly(kind, [arg], lambda value: fit(quantized(value, 0, mode), kind))
        if arg.type.integral:
            return cast(arg, BIGINT)
        return strictly(BIGINT, [arg], lambda value: whole(value, mode))

    return rule


def whole(value: float, mode: str) -> int:
    """A double rounded to a bigint; as in Spark, NaN becomes 0 without a word."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        raise refused(value, BIGINT)
    return in_range(math.floor(value) if mode == ROUND_FLOOR else math.ceil(value), BIGINT)


def power(base: float, exponent: float) -> float:
    """A power as Java computes it."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = exponent == math.floor(exponent) and math.fmod(exponent, 2) != 0
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def logarithm(of: Callable[[float], float], above: float = 0.0) -> Callable[[float], float | None]:
    """A logarithm, null where Spark has none."""
    return lambda value: None if value <= above else of(value)


def log_rule(args: Sequence[Typed]) -> Typed:
    """log(x), natural, or log(base, x)."""
    if len(args) == 1:
        return strict("double -> double", logarithm(math.log))(args)
    return strict("double, double -> double", log_to_base)(args)


def log_to_base(base: float, value: float) -> float | None:
    """A logarithm to a base, null where Spark has none."""
    if base <= 0 or value <= 0:
        return None
    bottom = math.log(base)
    return math.log(value) / bottom if bottom else math.nan if value == 1 else math.inf


def guarded(call: Callable[[float], float], beyond: float = math.nan) -> Callable[[float], float]:
    """A function that is `beyond` where Python would raise."""

    def of(value: float) -> float:
        try:
            return call(value)
        except OverflowError:
            return math.inf
        except ValueError:
            return beyond

    return of


def positive_modulus(args: Sequence[Typed]) -> Typed:
    """pmod: a rest that is not negative for a positive divisor."""
    left, right = (number(arg) for arg in args)
    if left.type.integral and right.type.integral:
        left, right = meeting([left, right], "pmod")
        return strictly(left.type, [left, right], positive_rest)
    rest = compute("%", left, right)
    again = compute("%", compute("+", rest, right), right)
    return Typed(rest.type, lambda s: rest.of(s) if (rest.of(s) or 0) >= 0 else again.of(s))


def positive_rest(left: int, right: int) -> int:
    """The rest of a division, shifted up once if it is negative."""
    not_zero(right)
    rest = remainder(left, right)
    return remainder(rest + right, right) if rest < 0 else rest


def tried(sign: str) -> Rule:
    """try_add and its kin: null where the operator would stop."""

    def rule(args: Sequence[Typed]) -> Typed:
        made = compute(sign, args[0], args[1])

        def of(scope: Scope) -> Any:
            try:
                return made.of(scope)
            except SqlFault:
                return None

        return Typed(made.type, of)

    return rule


def bits(call: Callable[[int, int], int]) -> Rule:
    """An operator on the bits of whole numbers."""

    def rule(args: Sequence[Typed]) -> Typed:
        left, right = meeting(args, "a bitwise operator")
        if not left.type.integral:
            raise FlowError(f"wants whole numbers; got {left.type}")
        return strictly(left.type, [left, right], call)

    return rule


def shift(call: Callable[[int, int], int]) -> Rule:
    """A shift within the 32 or 64 bits of a number; what leaves them is lost."""

    def rule(args: Sequence[Typed]) -> Typed:
        value = args[0] if args[0].type == BIGINT else cast(args[0], INT)
        width = 64 if value.type == BIGINT else 32
        half = 1 << width - 1

        def of(number: int, by: int) -> int:
            return (call(number, by % width) + half) % (2 * half) - half

        return strictly(value.type, [value, cast(args[1], INT)], of)

    return rule


def bit_not(args: Sequence[Typed]) -> Typed:
    """A whole number with every bit turned."""
    (arg,) = args
    if not arg.type.integral:
        raise FlowError(f"wants a whole number; got {arg.type}")
    return strictly(arg.type, [arg], lambda value: ~value)


def bin_text(value: int) -> str:
    """A bigint in binary digits, two's complement."""
    return format(value & (1 << 64) - 1, "b")


def hex_rule(args: Sequence[Typed]) -> Typed:
    """hex of a whole number, of text or of bytes."""
    if args[0].type.kind in ("string", "binary"):
        return strict("binary -> string", lambda data: data.hex().upper())(args)
    return strict("bigint -> string", lambda n: format(n & (1 << 64) - 1, "X"))(args)


def sign(value: float) -> float:
    """-1, 0 or 1."""
    return value if math.isnan(value) or value == 0 else math.copysign(1.0, value)


def width_bucket(value: float, low: float, high: float, count: int) -> int | None:
    """Which of `count` equal buckets between two bounds holds a value."""
    if count <= 0 or low == high or math.isnan(value) or math.isinf(low) or math.isinf(high):
        return None
    if low < high:
        place = (value - low) / (high - low)
        return 0 if value < low else count + 1 if value >= high else int(count * place) + 1
    place = (low - value) / (low - high)
    return 0 if value > low else count + 1 if value <= high else int(count * place) + 1


ONE = "double -> double"
NUMBERS: dict[str, Rule] = {
    "abs": absolute,
    "round": rounding(ROUND_HALF_UP),
    "bround": rounding(ROUND_HALF_EVEN),
    "floor": to_whole(ROUND_FLOOR),
    "ceil": to_whole(ROUND_CEILING),
    "ceiling": to_whole(ROUND_CEILING),
    "rint": strict(ONE, lambda value: float(round(value)) if math.isfinite(value) else value),
    "sqrt": strict(ONE, guarded(math.sqrt)),
    "cbrt": strict(ONE, lambda value: math.copysign(abs(value) ** (1 / 3), value)),
    "exp": strict(ONE, guarded(math.exp)),
    "expm1": strict(ONE, guarded(math.expm1)),
    "ln": strict(ONE, logarithm(math.log)),
    "log": log_rule,
    "log10": strict(ONE, logarithm(math.log10)),
    "log2": strict(ONE, logarithm(math.log2)),
    "log1p": strict(ONE, logarithm(math.log1p, above=-1.0)),
    "pow": strict("double, double -> double", power),
    "power": strict("double, double -> double", power),
    "sin": strict(ONE, guarded(math.sin)),
    "cos": strict(ONE, guarded(math.cos)),
    "tan": strict(ONE, guarded(math.tan)),
    "asin": strict(ONE, guarded(math.asin)),
    "acos": strict(ONE, guarded(math.acos)),
    "atan": strict(ONE, math.atan),
    "atan2": strict("double, double -> double", math.atan2),
    "degrees": strict(ONE, math.degrees),
    "radians": strict(ONE, math.radians),
    "hypot": strict("double, double -> double", math.hypot),
    "pi": lambda _: Typed(DOUBLE, lambda _: math.pi),
    "e": lambda _: Typed(DOUBLE, lambda _: math.e),
    "sign": strict(ONE, sign),
    "signum": strict(ONE, sign),
    "negative": lambda args: negative(args[0]),
    "positive": lambda args: number(args[0]),
    "mod": lambda args: compute("%", args[0], args[1]),
    "pmod": positive_modulus,
    "try_add": tried("+"),
    "try_subtract": tried("-"),
    "try_multiply": tried("*"),
    "try_divide": tried("/"),
    "try_mod": tried("%"),
    "bitnot": bit_not,
    "bitand": bits(lambda a, b: a & b),
    "bitor": bits(lambda a, b: a | b),
    "bitxor": bits(lambda a, b: a ^ b),
    "shiftleft": shift(lambda value, by: value << by),
    "shiftright": shift(lambda value, by: value >> by),
    "bit_count": strict("bigint -> int", lambda value: (value & (1 << 64) - 1).bit_count()),
    "bin": strict("bigint -> string", bin_text),
    "hex": hex_rule,
    "width_bucket": strict("double, double, double, bigint -> bigint", width_bucket),
}

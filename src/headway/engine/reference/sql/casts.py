"""Casts between types, by the rules of Spark in ANSI mode: what does not fit is refused."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from headway.engine.reference.sql.moments import (
    micros_of,
    moment,
    read_date,
    read_moment,
    write_moment,
)
from headway.engine.reference.sql.types import RANGES, SqlFault, Type
from headway.errors import FlowError

Convert = Callable[[Any], Any]
EXACT = Context(prec=120, rounding=ROUND_HALF_UP)  # wider than two decimals of 38 digits multiplied
WIDE = Context(prec=1_200, rounding=ROUND_HALF_UP)  # holds every double written out in full
TRUTHS = dict.fromkeys(("t", "true", "y", "yes", "1"), True) | dict.fromkeys(
    ("f", "false", "n", "no", "0"), False
)
NOT_SEEN = "".join(map(chr, range(33))) + "\x7f"  # what a cast trims off text
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}


def converter(source: Type, to: Type) -> Convert:
    """The function that casts a value that is not null from one type to another."""
    if (
        source == to
        or source.kind == "void"
        or (source.kind, to.kind) == ("interval day", "interval")
    ):
        return lambda value: value
    if source.kind == to.kind == "array":
        inner = converter(source.inner[0], to.inner[0])
        return lambda value: [None if item is None else inner(item) for item in value]
    if source.kind == to.kind == "struct":
        return struct_converter(source, to)
    if to.kind == "string":
        return lambda value: write(value, source)
    if to.kind == "decimal" and (source.numeric or source.kind in ("string", "boolean")):
        return lambda value: fit(read_decimal(value), to)
    if to.integral and (source.numeric or source.kind in ("string", "boolean", "timestamp")):
        return lambda value: whole(value, to)
    simple = SIMPLE.get((source.kind, to.kind))
    if simple is None and to.fractional and source.numeric:
        simple = SIMPLE["int", to.kind]
    if simple is None:
        raise FlowError(f"Spark has no cast from {source} to {to}")
    return simple


def struct_converter(source: Type, to: Type) -> Convert:
    """The cast of a struct: field by field in order."""
    fields = [
        (old, new, converter(one, other))
        for old, new, one, other in zip(source.names, to.names, source.inner, to.inner, strict=True)
    ]
    return lambda value: {
        new: None if value[old] is None else convert(value[old]) for old, new, convert in fields
    }


def refused(value: Any, to: object) -> SqlFault:
    """The error for a value that a type cannot hold."""
    return SqlFault(
        f"{value!r} does not fit into {to}; use try_cast to get NULL, or filter such records out"
    )


def whole(value: Any, to: Type) -> int:
    """A whole number of a type's width."""
    if isinstance(value, str):
        text = value.strip(NOT_SEEN)
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            raise refused(value, to)
        number = int(text)
    elif isinstance(value, datetime):
        number = micros_of(value) // 1_000_000
    elif isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            raise refused(value, to)
        number = math.trunc(value)
    else:
        number = int(value)
    return in_range(number, to)


def in_range(number: int, kind: Type) -> int:
    """The number itself, if its type is wide enough."""
    low, high = RANGES[kind.kind]
    if not low <= number <= high:
        raise refused(number, kind)
    return number


def read_decimal(value: Any) -> Decimal:
    """An exact decimal of a number or text."""
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            raise refused(value, "decimal")
        return Decimal(repr(value))
    if isinstance(value, str):
        text = value.strip(NOT_SEEN)
        if not NUMBER.fullmatch(text):
            raise refused(value, "decimal")
        return Decimal(text)
    return Decimal(int(value)) if not isinstance(value, Decimal) else value


def fit(value: Decimal, to: Type) -> Decimal:
    """A decimal rounded half up to a type's scale, if it has digits enough."""
    if value and value.adjusted() >= to.precision:
        raise refused(value, to)
    rounded = value.quantize(Decimal(1).scaleb(-to.scale), context=WIDE)
    if len(rounded.as_tuple().digits) > to.precision and rounded:
        raise refused(value, to)
    return rounded


def read_double(text: str) -> float:
    """The floating-point number that a text means."""
    plain = text.strip(NOT_SEEN)
    sign = -1.0 if plain.startswith("-") else 1.0
    special = SPECIAL.get(plain.lstrip("+-").lower())
    if special is not None:
        return sign * special
    number = plain[:-1] if plain[-1:] in ("d", "D", "f", "F") else plain
    if not NUMBER.fullmatch(number):
        raise refused(text, "double")
    return float(number)


def read_boolean(text: str) -> bool:
    """The truth that a text means."""
    found = TRUTHS.get(text.strip(NOT_SEEN).lower())
    if found is None:
        raise refused(text, "boolean")
    return found


def to_float(value: Any) -> float:
    """The nearest number of 32 bits."""
    number = float(value)
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def seconds_to_moment(value: Any) -> datetime:
    """The timestamp that a number of seconds since 1970 means; finer than a microsecond is cut."""
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
        raise refused(value, "timestamp")
    return moment(math.trunc(value * 1_000_000))


SIMPLE: dict[tuple[str, str], Convert] = {
    ("string", "boolean"): read_boolean,
    ("string", "double"): read_double,
    ("string", "float"): lambda text: to_float(read_double(text)),
    ("string", "timestamp"): read_moment,
    ("string", "date"): read_date,
    ("string", "binary"): lambda text: text.encode(),
    ("int", "double"): float,
    ("int", "float"): to_float,
    ("boolean", "double"): float,
    ("boolean", "float"): float,
    ("timestamp", "double"): lambda when: micros_of(when) / 1e6,
    ("timestamp", "float"): lambda when: to_float(micros_of(when) / 1e6),
    ("timestamp", "date"): lambda when: when.date(),
    ("date", "timestamp"): lambda day: datetime(day.year, day.month, day.day, tzinfo=UTC),
    ("tinyint", "timestamp"): seconds_to_moment,
    ("smallint", "timestamp"): seconds_to_moment,
    ("int", "timestamp"): seconds_to_moment,
    ("bigint", "timestamp"): seconds_to_moment,
    ("double", "timestamp"): seconds_to_moment,
    ("float", "timestamp"): seconds_to_moment,
    ("decimal", "timestamp"): seconds_to_moment,
}
for _kind in ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"):
    SIMPLE[_kind, "boolean"] = lambda value: value != 0


def write(value: Any, kind: Type) -> str:
    """A value as Spark writes it when it casts it to text."""
    if value is None:
        return "null"
    if kind.kind == "array":
        return f"[{', '.join(write(item, kind.inner[0]) for item in value)}]"
    if kind.kind == "struct":
        items = zip(value.values(), kind.inner, strict=True)
        return "{" + ", ".join(write(item, inner) for item, inner in items) + "}"
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return write_float(value) if kind.kind == "float" else write_double(repr(value))
        case Decimal():
            return f"{value:f}"
        case datetime():
            return write_moment(value)
        case date():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", errors="replace")
    return str(value)


def write_float(value: float) -> str:
    """A number of 32 bits with the fewest digits that mean it."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if to_float(text) == value:
            return write_double(repr(float(text)))
    return write_double(repr(value))


def write_double(text: str) -> str:
    """Python's spelling of a floating-point number, respelled as Java does.

    Both write the fewest digits that mean the number; Java before 19 now and then one too many.

    >>> write_double("0.1"), write_double("1e+22"), write_double("5e-05")
    ('0.1', '1.0E22', '5.0E-5')
    """
    if text in ("nan", "inf", "-inf"):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[text]
    number = Decimal(text)
    if number == 0 or Decimal("1e-3") <= abs(number) < Decimal("1e7"):
        plain = f"{number:f}"
        return plain if "." in plain else f"{plain}.0"
    sign, digits, _ = number.as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    mantissa = f"{significant[0]}.{significant[1:] or '0'}"
    return f"{'-' if sign else ''}{mantissa}E{number.adjusted()}"

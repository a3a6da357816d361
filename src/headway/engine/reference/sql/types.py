"""Spark's data types as plain values, and the type in which two of them meet."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headway.errors import FlowError, RunError


class SqlFault(RunError):
    """A value for which an SQL expression has no answer: Spark in ANSI mode stops there too."""


@dataclass(frozen=True, slots=True)
class Type:
    """A data type; `inner` and `names` describe arrays, maps and structs, the rest decimals."""

    kind: str
    inner: tuple[Type, ...] = ()
    names: tuple[str, ...] = ()
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        if self.kind == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.kind == "struct":
            fields = zip(self.names, self.inner, strict=True)
            return f"struct<{','.join(f'{name}:{kind}' for name, kind in fields)}>"
        if self.inner:
            return f"{self.kind}<{','.join(map(str, self.inner))}>"
        return self.kind

    @property
    def integral(self) -> bool:
        """Whether values are whole numbers of a fixed width."""
        return self.kind in RANGES

    @property
    def fractional(self) -> bool:
        """Whether values are binary floating point."""
        return self.kind in ("float", "double")

    @property
    def numeric(self) -> bool:
        """Whether arithmetic is defined."""
        return self.integral or self.fractional or self.kind == "decimal"


VOID, BOOLEAN, STRING, BINARY = Type("void"), Type("boolean"), Type("string"), Type("binary")
TINYINT, SMALLINT, INT, BIGINT = Type("tinyint"), Type("smallint"), Type("int"), Type("bigint")
FLOAT, DOUBLE = Type("float"), Type("double")
DATE, TIMESTAMP = Type("date"), Type("timestamp")
INTERVAL, DAYS = Type("interval"), Type("interval day")
RANGES = {
    kind: (-(1 << bits - 1), (1 << bits - 1) - 1)
    for kind, bits in (("tinyint", 8), ("smallint", 16), ("int", 32), ("bigint", 64))
}
INTEGRAL = tuple(RANGES)
DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
SPELLINGS = {
    "text": "string", "varchar": "string", "char": "string", "timestamptz": "timestamp",
    "timestampltz": "timestamp", "varbinary": "binary", "long": "bigint", "null": "void",
}  # fmt: skip


def array_of(inner: Type) -> Type:
    """The type of arrays of one type."""
    return Type("array", (inner,))


def decimal(precision: int, scale: int) -> Type:
    """A decimal type within Spark's 38 digits; like Spark it gives up scale, down to 6, to fit."""
    if precision <= 38:
        return Type("decimal", precision=precision, scale=scale)
    kept = max(38 - (precision - scale), min(scale, 6))
    return Type("decimal", precision=38, scale=kept)


def parse_type(text: str) -> Type:
    """Read a type in Spark's spelling.

    >>> str(parse_type("array<struct<a: int, b: decimal(5, 2)>>"))
    'array<struct<a:int,b:decimal(5,2)>>'
    """
    return read_type(exp.DataType.build(text, dialect="spark"))


def read_type(node: exp.Expression) -> Type:
    """The type that a parsed declaration means."""
    kind = str(node.this.value if hasattr(node.this, "value") else node.this).lower()
    kind = SPELLINGS.get(kind, kind)
    parts = node.expressions
    if kind == "decimal":
        numbers = [int(part.name) for part in parts] or [10]
        return decimal(numbers[0], numbers[1] if len(numbers) > 1 else 0)
    if kind == "struct":
        inner = tuple(read_type(part.args["kind"]) for part in parts)
        return Type(kind, inner, tuple(part.name for part in parts))
    if kind in ("array", "map"):
        return Type(kind, tuple(read_type(part) for part in parts))
    plain = Type(kind)
    known = (VOID, BOOLEAN, STRING, BINARY, FLOAT, DOUBLE, DATE, TIMESTAMP)
    if plain not in known and not plain.integral:
        raise FlowError(f"the reference engine does not know the type {node.sql('spark')!r}")
    return plain


def as_decimal(kind: Type) -> Type:
    """The decimal type that holds every value of an integral or decimal type."""
    return kind if kind.kind == "decimal" else decimal(DIGITS[kind.kind], 0)


def meet(left: Type, right: Type) -> Type | None:
    """The type in which values of two types are compared or chosen; None where Spark has none."""
    if left == right or right == VOID:
        return left
    if left == VOID:
        return right
    if left.numeric and right.numeric:
        return meet_numbers(left, right)
    if STRING in (left, right):
        return meet_text(right if left == STRING else left)
    if {left, right} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    if {left, right} == {INTERVAL, DAYS}:
        return INTERVAL
    if left.kind == right.kind and left.inner and left.names == right.names:
        inner = [meet(one, other) for one, other in zip(left.inner, right.inner, strict=True)]
        known = tuple(kind for kind in inner if kind is not None)
        return Type(left.kind, known, left.names) if len(known) == len(inner) else None
    return None


def meet_numbers(left: Type, right: Type) -> Type:
    """The type in which two numbers meet."""
    if left.integral and right.integral:
        return max(left, right, key=lambda kind: INTEGRAL.index(kind.kind))
    if left.fractional or right.fractional:
        return FLOAT if left == right == FLOAT else DOUBLE
    one, other = as_decimal(left), as_decimal(right)
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    return decimal(whole + scale, scale)


def meet_text(other: Type) -> Type | None:
    """The type in which text meets another type: in ANSI mode text gives way."""
    if other.integral:
        return BIGINT
    if other.numeric:
        return DOUBLE
    return other if other in (BOOLEAN, DATE, TIMESTAMP, BINARY) else None

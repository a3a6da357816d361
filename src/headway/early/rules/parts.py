"""Aggregates taken apart: what is summed of each slice, how slices merge, what it comes to.

A sum of floats depends on the order of its additions, and so on cores and chunks. Here each float
is split into four whole numbers of 32 binary digits, whose sums are exact in any order; the sum
is put together once, at the end. Floats that are too large or too small for that are summed by
Spark as they come.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from headway.early.algebra import Call

BAND = 4_294_967_296
# Beyond 2^95 the first part would not fit; and what lies below 2^-64 of a float is cut off, which
# shows once floats are smaller than this on average. Then it is Spark's own sum that is told.
LARGEST = f"{2**95}.0D"
SMALLEST = "(1D / 65536D)"


@dataclass(frozen=True, slots=True)
class Part:
    """A column of partial results: computed from tuples, and merged from slices."""

    name: str
    compute: str
    merge: str


@dataclass(frozen=True, slots=True)
class Parts:
    """An aggregate as partial results and the expression that finishes them."""

    parts: tuple[Part, ...]
    finish: str


def wanted_types(call: Call) -> list[str]:
    """The expressions whose types decide how an aggregate is taken apart."""
    text = call.argument.text if call.argument is not None else "1"
    return [f"MAX({text})", plain_text(call)]


def plain_text(call: Call) -> str:
    text = call.argument.text if call.argument is not None else "1"
    return f"{call.function.upper()}({text})" if call.function in ADDITIVE else "COUNT(1)"


def known_types(call: Call, columns: Mapping[str, str]) -> list[str] | None:
    """What Spark would say of `wanted_types`, where the argument is a column of a known type.

    None where it must be asked, as of most expressions. What is counted may have any type.
    """
    if call.function in ("count", "count_if"):
        return ["bigint", "bigint"]
    name = call.argument.column if call.argument is not None else None
    kind = columns.get(name, "") if name is not None else ""
    decimal = DECIMAL.fullmatch(kind)
    if decimal is None and kind not in (*WHOLE, *FLOATING):
        return None
    match call.function:
        case "min" | "max":
            return [kind, kind]
        case "sum" if decimal:
            return [kind, f"decimal({min(38, int(decimal[1]) + 10)},{decimal[2]})"]
        case "sum":
            return [kind, "bigint" if kind in WHOLE else "double"]
        case "avg" if decimal:
            return [kind, f"decimal({min(38, int(decimal[1]) + 4)},{min(38, int(decimal[2]) + 4)})"]
        case "avg":
            return [kind, "double"]
    return None


WHOLE = ("tinyint", "smallint", "int", "bigint")
FLOATING = ("float", "double")
DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
ADDITIVE = ("count", "count_if", "sum", "avg", "min", "max")


def taken_apart(call: Call, argument_type: str, result_type: str) -> Parts | None:
    """The parts of an aggregate, or None if it has none."""
    if call.distinct or call.function not in ADDITIVE:
        return None
    name, text = call.name, call.argument.text if call.argument is not None else "*"
    only = f" FILTER (WHERE {call.where.text})" if call.where is not None else ""
    if call.function in ("count", "count_if"):
        part = Part(name, f"{call.function.upper()}({text}){only}", "SUM")
        return Parts((part,), f"COALESCE(`{name}`, 0)")
    if call.function in ("min", "max"):
        function = call.function.upper()
        return Parts((Part(name, f"{function}({text}){only}", function),), f"`{name}`")
    floating = argument_type in FLOATING
    if not floating and not is_exact(argument_type):
        return None
    total = (
        float_parts(name, text, only)
        if floating
        else Parts((Part(name, f"SUM({text}){only}", "SUM"),), f"`{name}`")
    )
    if call.function == "sum":
        return Parts(total.parts, f"CAST({total.finish} AS {result_type})")
    count = Part(f"{name}_n", f"COUNT({text}){only}", "SUM")
    return Parts((*total.parts, count), mean(total.finish, count.name, result_type))


def as_a_whole(call: Call) -> Parts:
    """An aggregate that is computed in one go, and merged with nothing."""
    return Parts((Part(call.name, call.text, ""),), f"`{call.name}`")


def is_exact(argument_type: str) -> bool:
    """Whether sums of a type do not depend on the order of their additions."""
    return argument_type in WHOLE or argument_type.startswith("decimal")


def mean(total: str, count: str, result_type: str) -> str:
    """A sum over its count as Spark's avg() divides them."""
    divisor = f"NULLIF(`{count}`, 0)"
    if result_type.startswith("decimal"):
        return f"CAST({total} / CAST({divisor} AS DECIMAL(20, 0)) AS {result_type})"
    return f"CAST({total} AS DOUBLE) / {divisor}"


def float_parts(name: str, text: str, only: str) -> Parts:
    """A sum of floats as exact sums of four whole parts, and counts of what is no number."""
    value = f"CAST({text} AS DOUBLE)"
    large = f"ABS({value}) >= {LARGEST}"  # as are infinity, and to Spark what is no number
    size = f"ABS(IF({large}, 0D, {value}))"
    sign = f"SIGN({value})"
    top = f"FLOOR({size} / {BAND}D)"
    rest = f"({size} % {BAND}D)"
    below = f"({size} % 1D)"
    third = f"({below} * {BAND}D)"
    bands = [top, f"FLOOR({rest})", f"FLOOR({third})", f"FLOOR(({third} % 1D) * {BAND}D)"]
    parts = [
        Part(f"{name}_{n}", f"SUM(CAST({sign} * {band} AS DECIMAL(28, 0))){only}", "SUM")
        for n, band in enumerate(bands)
    ]
    odd = [("nan", "NaN"), ("up", "Infinity"), ("down", "-Infinity")]
    parts += [
        Part(f"{name}_{tag}", f"COUNT(IF({value} = DOUBLE('{said}'), 1, NULL)){only}", "SUM")
        for tag, said in odd
    ]
    parts += [
        Part(f"{name}_large", f"COUNT(IF({large}, 1, NULL)){only}", "SUM"),
        Part(f"{name}_cut", f"COUNT(IF({third} * {BAND}D % 1D <> 0D, 1, NULL)){only}", "SUM"),
        Part(f"{name}_plain", f"SUM({value}){only}", "SUM"),
    ]
    return Parts(tuple(parts), put_together(name))


def put_together(name: str) -> str:
    """The float that four whole sums make; infinities and NaN as an addition would give them."""
    scales = (f"{BAND}D", "1D", f"(1D / {BAND}D)", f"(1D / {BAND}D / {BAND}D)")
    bands = [f"CAST(`{name}_{n}` AS DOUBLE) * {scale}" for n, scale in enumerate(scales)]
    total = f"({bands[0]} + ({bands[1]} + ({bands[2]} + {bands[3]})))"
    nan, up, down = (f"`{name}_{tag}`" for tag in ("nan", "up", "down"))
    unfit = f"`{name}_large` > 0 OR ABS({total}) < `{name}_cut` * {SMALLEST}"
    return (
        f"CASE WHEN {nan} > 0 OR ({up} > 0 AND {down} > 0) THEN DOUBLE('NaN') "
        f"WHEN {up} > 0 THEN DOUBLE('Infinity') WHEN {down} > 0 THEN DOUBLE('-Infinity') "
        f"WHEN {unfit} THEN `{name}_plain` ELSE {total} END"
    )

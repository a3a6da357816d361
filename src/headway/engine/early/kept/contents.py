"""What a stored table holds, by point: how many tuples, and a digest of all their values.

Answers that are kept go with the digest, so they are never continued over other data. It is of the
tuples alone, in any order: not of the files, nor of how many there are, nor of who wrote them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    FloatType,
    GeographyType,
    GeometryType,
    MapType,
    StructType,
    VariantType,
)

from headway.early.progress import FROM

HASH = "hw_hash"
# A hash in three parts: their sums stay within Spark's whole numbers up to 2^41 tuples of a point,
# and take half the time of one sum of decimals.
SUMS = (
    f"SUM({HASH} & 4194303)",
    f"SUM(SHIFTRIGHT({HASH}, 22) & 4194303)",
    f"SUM(SHIFTRIGHTUNSIGNED({HASH}, 44))",
)


@dataclass(frozen=True, slots=True)
class Contents:
    """How many tuples enter at each point, and a digest of them."""

    entering: tuple[int, ...]
    digest: str


def contents_of(rows: DataFrame, points: int) -> Contents:
    """What a table with progress holds; it is read once, with all its columns.

    The hashes of a point's tuples are added up, so that tuples that are there twice count twice.
    """
    hashes = rows.select(FROM, F.expr(tuple_hash(rows.schema)).alias(HASH))
    found = hashes.groupBy(FROM).agg(F.count("*"), *map(F.expr, SUMS)).collect()
    entering = [0] * points
    for point, count, *_ in found:
        entering[point] = count
    said = repr(sorted(map(tuple, found)))
    return Contents(tuple(entering), hashlib.sha256(said.encode()).hexdigest())


def tuple_hash(schema: StructType) -> str:
    """SQL of a number that depends on all values of a tuple.

    >>> tuple_hash(StructType().add("a", "integer").add("b", "integer"))
    'XXHASH64(`a` IS NULL, `a`, `b` IS NULL, `b`)'
    """
    return hash_of(part for one in schema for part in parts(quoted(one.name), one.dataType))


def hash_of(texts: Iterator[str]) -> str:
    return f"XXHASH64({', '.join(texts)})"


def parts(value: str, kind: DataType, depth: int = 0) -> Iterator[str]:
    """What is hashed of a value: all that tells it from others of its type, as SQL.

    Spark's hash passes over what is null, and over where an inner value begins; and of some types
    it has none.

    >>> list(parts("a", ArrayType(DataType())))
    ['a IS NULL', 'TRANSFORM(a, hw_0 -> XXHASH64(hw_0 IS NULL, hw_0))']
    """
    yield f"{value} IS NULL"
    match kind:
        case StructType():
            for one in kind:
                yield from parts(f"{value}.{quoted(one.name)}", one.dataType, depth)
        case ArrayType():
            inner = hash_of(parts(f"hw_{depth}", kind.elementType, depth + 1))
            yield f"TRANSFORM({value}, hw_{depth} -> {inner})"
        case MapType():
            entry = StructType().add("key", kind.keyType).add("value", kind.valueType)
            yield from parts(f"MAP_ENTRIES({value})", ArrayType(entry), depth)
        case VariantType():
            yield from (f"TO_JSON({value}, MAP('timeZone', 'UTC'))", f"SCHEMA_OF_VARIANT({value})")
        case GeometryType() | GeographyType():
            yield from (f"ST_ASBINARY({value})", f"ST_SRID({value})")
        case FloatType() | DoubleType():  # the hash takes 0.0 and -0.0 for one
            yield from (value, f"{value} = 0 AND CAST({value} AS STRING) LIKE '-%'")
        case _:
            yield value


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

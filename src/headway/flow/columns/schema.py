"""The columns of a stream, as plain data that needs neither Spark nor a JVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headway.errors import FlowError

ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
ALIASES = {"long": "bigint", "integer": "int", "text": "string", "bool": "boolean", "real": "float"}


@dataclass(frozen=True, slots=True)
class Column:
    """A name and a type, spelled as Spark SQL spells it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Schema:
    """An ordered set of columns with distinct names.

    >>> str(Schema.parse("user string, clicks long"))
    'user string, clicks bigint'
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for column in self.columns:
            if column.name in seen:
                raise FlowError(f"column {column.name!r} is declared twice; give each its own name")
            if column.name.startswith("__"):
                raise FlowError(
                    f"column {column.name!r} starts with two underscores, which headway keeps for "
                    "its own columns; rename it"
                )
            seen.add(column.name)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __str__(self) -> str:
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    def type_of(self, name: str) -> str:
        """The type of one column."""
        return next(column.type for column in self.columns if column.name == name)

    def only(self, names: tuple[str, ...]) -> Schema:
        """This schema cut down to `names`, in its own order."""
        return Schema(tuple(column for column in self.columns if column.name in names))

    def arrow(self) -> pa.Schema:
        """The same columns as Arrow fields."""
        return pa.schema([(column.name, arrow_type(column.type)) for column in self.columns])

    @classmethod
    def parse(cls, ddl: str) -> Schema:
        """Read a declaration such as ``"time timestamp, user string, size long"``."""
        # Only here: Spark's Python processes import this module, and parse nothing.
        from headway.flow.columns.ddl import columns_of

        return cls(tuple(Column(name, spark_type(kind)) for name, kind in columns_of(ddl)))

    @classmethod
    def from_arrow(cls, schema: pa.Schema) -> Schema:
        """The schema of Arrow data, with the types that Spark has for them."""
        return cls(tuple(Column(field.name, from_arrow_type(field.type)) for field in schema))


def spark_type(text: str) -> str:
    """Normalise one type's spelling; refuse what headway cannot carry through Arrow."""
    plain = text.strip().lower()
    plain = ALIASES.get(plain, plain)
    arrow_type(plain)
    return plain


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a Spark SQL type."""
    if text in ARROW_TYPES:
        return ARROW_TYPES[text]
    if text.startswith("array<") and text.endswith(">"):
        return pa.list_(arrow_type(ALIASES.get(text[6:-1].strip(), text[6:-1].strip())))
    if text.startswith("decimal(") and text.endswith(")"):
        precision, _, scale = text[8:-1].partition(",")
        return pa.decimal128(int(precision), int(scale or 0))
    raise FlowError(
        f"type {text!r} is not one that headway carries; use one of {', '.join(ARROW_TYPES)}, "
        "decimal(p, s) or array<...>"
    )


def exact_array(values: Iterable[Any], kind: pa.DataType) -> pa.Array:
    """Python values as a column of a type that holds each of them as it is.

    Arrow would make 1.5 a 1 where whole numbers are wanted; here that is an error.

    >>> exact_array([1, None], pa.int64()).to_pylist()
    [1, None]
    """
    found = list(values)
    if not pa.types.is_integer(kind):
        return pa.array(found, kind)
    made = pa.array(found)
    if not (pa.types.is_integer(made.type) or pa.types.is_null(made.type)):
        raise pa.ArrowInvalid(f"a {made.type} where a whole number is wanted")
    return made.cast(kind)


def exact_batch(records: Sequence[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Records as columns of a schema, each value as it is; a missing one is null."""
    columns = [exact_array((r.get(f.name) for r in records), f.type) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def from_arrow_type(kind: pa.DataType) -> str:
    """The Spark SQL type that holds an Arrow type without loss."""
    tests = (
        (pa.types.is_string, "string"),
        (pa.types.is_large_string, "string"),
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_timestamp, "timestamp"),
        (pa.types.is_date, "date"),
        (pa.types.is_float32, "float"),
        (pa.types.is_floating, "double"),
        (pa.types.is_binary, "binary"),
        (pa.types.is_large_binary, "binary"),
        (pa.types.is_null, "string"),
    )
    for test, name in tests:
        if test(kind):
            return name
    if pa.types.is_integer(kind):
        small = kind.bit_width < 32 or kind in (pa.int32(),)
        return "int" if small else "bigint"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    if pa.types.is_list(kind):
        return f"array<{from_arrow_type(kind.value_type)}>"
    raise FlowError(
        f"Arrow type {kind} has no counterpart in headway; declare the column's type in the schema "
        "or leave the column out of it"
    )

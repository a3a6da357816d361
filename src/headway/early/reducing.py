"""Functions of the user's that make rows of the tuples that share a key, Arrow in and Arrow out.

A progress-aware function takes batches in order of progress and says itself when its rows hold;
an ordinary one knows nothing of progress, and is called at each point at which the tuples of its
key change (paper 5, section 3.2.4).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headway.early.chunks import Chunk
from headway.early.contracts import AT_START, MOVING, Contract
from headway.early.merging import merged
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.errors import QueryError, RunError

Tuples = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Batch:
    """The tuples of one key that enter at one point, by the name of their table."""

    point: int
    tables: Tuples


@dataclass(frozen=True, slots=True)
class Reducer:
    """A function over the tuples that share the values of `by`, and the columns that it makes.

    `function(key, tables)` is given the tuples that hold at a point, by the name of their table,
    and gives an Arrow table with the columns of `returns`; those of the key are put before them.
    With `sees_progress` it is `function(key, batches)`: batches come in order of progress, their
    tables have hw_from and hw_until, and so must the tables that it gives one after the other.
    """

    function: Callable[[dict[str, Any], Any], Any]
    by: tuple[str, ...]
    returns: str
    sees_progress: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.by, str):
            object.__setattr__(self, "by", (self.by,))
        if not callable(self.function):
            raise QueryError("a reducer needs a function(key, tables) that gives an Arrow table")

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def said(self) -> str:
        """What answers depend on: the function as it is written, the keys and the columns."""
        try:
            written = inspect.getsource(self.function)
        except (OSError, TypeError):
            written = self.name
        return repr((written, self.by, self.returns, self.sees_progress))


def contract_of(by: Iterable[str], inputs: Iterable[Contract]) -> Contract:
    """What is known of the rows' progress.

    Where every input enters by the same function of the key, a key is complete when its point has
    come: its rows are made once and never change.
    """
    keys = tuple(name.lower() for name in by)
    contracts = list(inputs)
    if all(contract.at_start for contract in contracts):
        return AT_START
    shared = frozenset.intersection(*(contract.keys for contract in contracts))
    known = frozenset(key for key in shared if set(key) <= set(keys))
    same = {contract.function for contract in contracts}
    if known and len(same) == 1 and all(contract.inclusive for contract in contracts):
        return Contract(False, True, known, next(iter(same)))
    return MOVING


def reduced(
    reducer: Reducer, key: dict[str, Any], tables: Tuples, chunk: Chunk, shape: pa.Schema
) -> pa.Table:
    """The rows of one key at the points of a chunk, with their intervals."""
    if reducer.sees_progress:
        given = reducer.function(key, batches(tables))
        parts = [given] if isinstance(given, pa.Table) else list(given)
        times = pa.schema([(FROM, pa.int32()), (UNTIL, pa.int32())])
        whole = pa.schema([*shape, *times])
        made = [as_declared(part, whole, reducer.name) for part in parts]
        return pa.concat_tables(made) if made else whole.empty_table()
    return pa.concat_tables(at_points(reducer, key, tables, chunk, shape))


def batches(tables: Tuples) -> Iterator[Batch]:
    """The tuples of several tables as one sequence of batches in order of progress."""
    for point, together in merged({name: by_point(rows) for name, rows in tables.items()}):
        yield Batch(point, together)


def by_point(rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Rows that enter together, the earliest first; their order among themselves is kept."""
    for point in sorted(pc.unique(rows[FROM]).to_pylist()):
        yield point, rows.filter(pc.equal(rows[FROM], point))


def at_points(
    reducer: Reducer, key: dict[str, Any], tables: Tuples, chunk: Chunk, shape: pa.Schema
) -> list[pa.Table]:
    """An ordinary function called at each point at which the tuples of its key change."""
    points = turning_points(tables, chunk)
    parts = []
    for point, until in zip(points, [*points[1:], FOREVER], strict=True):
        held = {name: stabbed(rows, point) for name, rows in tables.items()}
        if not any(rows.num_rows for rows in held.values()):
            continue
        part = as_declared(reducer.function(key, held), shape, reducer.name)
        part = part.append_column(FROM, pa.array([point] * part.num_rows, pa.int32()))
        parts.append(part.append_column(UNTIL, pa.array([until] * part.num_rows, pa.int32())))
    if parts:
        return parts
    times = [pa.field(FROM, pa.int32()), pa.field(UNTIL, pa.int32())]
    return [pa.schema([*shape, *times]).empty_table()]


def turning_points(tables: Tuples, chunk: Chunk) -> list[int]:
    """The points of a chunk at which tuples enter or leave; the first one, if some are there."""
    turns = {
        point
        for rows in tables.values()
        for name in (FROM, UNTIL)
        for point in pc.unique(rows[name]).to_pylist()
    }
    return sorted({max(point, chunk.first) for point in turns if point <= chunk.last})


def stabbed(rows: pa.Table, point: int) -> pa.Table:
    """The rows that hold at a point, without their progress."""
    held = pc.and_(pc.less_equal(rows[FROM], point), pc.greater(rows[UNTIL], point))
    return rows.filter(held).drop_columns([FROM, UNTIL])


def as_declared(given: Any, shape: pa.Schema, name: str) -> pa.Table:
    """What a function gave, with the columns that it declares and in their types."""
    if not isinstance(given, pa.Table):
        raise RunError(f"{name} gave a {type(given).__name__}; a reducer gives an Arrow table")
    if set(given.column_names) != set(shape.names):
        raise RunError(
            f"{name} gave the columns {', '.join(given.column_names) or 'none'}; "
            f"it declares {', '.join(shape.names)}"
        )
    try:
        return given.select(shape.names).cast(shape)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise RunError(f"what {name} gave is not what it declares: {error}") from error

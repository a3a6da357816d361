"""Answers: one chunk's rows with their intervals, and the answer at each point cut out of them."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headway.early.algebra import Order
from headway.early.estimating import Totals, estimate
from headway.early.ordering import Key, by_all, sort_indices
from headway.early.progress import FROM, UNTIL, Interval
from headway.errors import QueryError


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of an answer: their names, and which hidden columns order its rows."""

    names: tuple[str, ...]
    order: tuple[Key, ...] = ()

    @property
    def width(self) -> int:
        return len(self.names)


def order_by(shown: Sequence[str], order: Sequence[Order]) -> tuple[Key, ...]:
    """The order of rows as places of columns, each descending or not, nulls first or not."""
    places = {name: n for n, name in enumerate(shown)}
    return tuple(
        (places[next(iter(key.term.columns))], key.descending, key.nulls_first) for key in order
    )


def cut(rows: pa.Table, point: int, shape: Shape) -> pa.Table:
    """The answer at one point: rows whose interval holds it, in an order that is one fact."""
    held = pc.and_(pc.less_equal(rows[FROM], point), pc.greater(rows[UNTIL], point))
    chosen = rows.filter(held)
    ordered = chosen.take(sort_indices(chosen, [*shape.order, *by_all(shape.width)]))
    # Whether a column may be null is not said: that would tell by which rule it was computed.
    shown = ordered.columns[: shape.width]
    return pa.Table.from_arrays(shown, names=list(shape.names)).combine_chunks()


def with_estimates(history: Sequence[Answer], totals: Totals) -> pa.Table:
    """The last answer with three columns beside each total: what it may come to over all data."""
    shares = [one.progress for one in history]
    grown: list[dict[tuple[Any, ...], tuple[Any, ...]]] = []
    for one in history:
        columns = [column.to_pylist() for column in one.table.columns]
        keys = zip(*(columns[n] for n in totals.keys), strict=True) if totals.keys else [()]
        values = zip(*(columns[n] for n in totals.places), strict=True)
        grown.append(dict(zip(keys, values, strict=True)))
    table = history[-1].table
    for n, place in enumerate(totals.places):
        name = table.column_names[place]
        seen = [[float(at[key][n] or 0) if key in at else 0.0 for at in grown] for key in grown[-1]]
        never_less = place in totals.counts
        told = [estimate(v, shares, v[-1] if never_less else -math.inf) for v in seen]
        for part in ("low", "estimate", "high"):
            of = [one.value if part == "estimate" else getattr(one, part) for one in told]
            table = table.append_column(f"{name}_{part}", pa.array(of, pa.float64()))
    return table


@dataclass(frozen=True)
class Answer:
    """The query over the tuples that hold at one point: exact, and the same in every run."""

    point: int
    points: int
    progress: float
    rows: pa.Table
    shape: Shape
    explains: Any = None
    estimates_of: Callable[[Answer], pa.Table] | None = None

    @property
    def estimates(self) -> pa.Table:
        """The answer with what its counts and sums may come to: low, estimate, high, at 95 %."""
        if self.estimates_of is None:
            raise QueryError("ask with estimates=True to have estimates beside the answers")
        return self.estimates_of(self)

    @cached_property
    def table(self) -> pa.Table:
        """The answer as an Arrow table."""
        return cut(self.rows, self.point, self.shape)

    @property
    def interval(self) -> Interval:
        """The points that this answer speaks for."""
        return Interval(self.point, self.point + 1)

    @property
    def is_final(self) -> bool:
        return self.point == self.points - 1

    def pandas(self) -> Any:
        """The answer as a pandas DataFrame."""
        return self.table.to_pandas()

    @property
    def df(self) -> Any:
        """The answer as a PySpark DataFrame."""
        return self.explains.frame(self.table)

    def why(self, **key: Any) -> Any:
        """The tuples behind the rows that have these values, and what they replay to."""
        return self.explains.why(self.point, key)

    @property
    def fingerprint(self) -> str:
        """A digest of the answer's bytes: equal for equal answers, in any run on any machine."""
        buffer = io.BytesIO()
        with pa.ipc.new_stream(buffer, self.table.schema.remove_metadata()) as out:
            out.write_table(self.table.replace_schema_metadata(None))
        return hashlib.sha256(buffer.getvalue()).hexdigest()

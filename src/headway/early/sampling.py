"""Sampling strategies: which progress a tuple gets, as Spark SQL (paper 5, section 2.5).

Every strategy is a function of the data and a seed, so annotating twice gives the same progress.
The final point holds every tuple of an inclusive sample; with `stay`, tuples leave again after
that many points.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from headway.early.contracts import AT_START, WHOLE, Contract, hashed_as
from headway.early.progress import FOREVER
from headway.errors import QueryError

HASHES = 4_294_967_296
KINDS = ("key", "row", "start", "strata", "order", "own")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tuples enter: by a hash of a key or of the row, in an order, by strata, or as said.

    `growth` is how many times more tuples each point brings than the one before it. `first` is the
    part of all tuples that the first point brings, so that its answer comes soon; without it the
    first point is one as all others.
    """

    kind: str
    by: tuple[str, ...] = ()
    points: int = 20
    seed: int = 0
    growth: float = 1.0
    stay: int | None = None
    least: int = 1
    until: str | None = None
    first: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise QueryError(f"a sample grows by {', '.join(KINDS)}; got {self.kind!r}")
        if not 1 <= self.points <= 100_000:
            raise QueryError(f"points must be between 1 and 100,000; got {self.points}")
        if not 0.1 <= self.growth <= 100:
            raise QueryError(f"growth must be between 0.1 and 100; got {self.growth:g}")
        if self.first is not None and not 0 < self.first < 1:
            raise QueryError(f"first must be a part, between 0 and 1; got {self.first:g}")
        if self.stay is not None and self.stay < 1:
            raise QueryError(f"a tuple stays for at least one point; got stay={self.stay}")
        if self.kind in ("key", "strata", "order", "own") and not self.by:
            raise QueryError(f"sampling by {self.kind} needs to know by which column: by='...'")

    @property
    def function(self) -> str:
        """What makes two samples put equal keys at equal points."""
        return json.dumps([self.points, self.seed, self.growth, self.first, self.stay])

    @property
    def even(self) -> bool:
        """Whether each point brings as many tuples as any other."""
        return self.growth == 1.0 and self.first is None

    @property
    def inclusive(self) -> bool:
        return self.stay is None and self.until is None

    def contract(self, types: Mapping[str, str]) -> Contract:
        """What the strategy promises of the tuples' progress, given the types of the columns.

        Values of unlike types may be equal in SQL and have unlike hashes, and so may floats, so
        types are part of the function and a float is no key.
        """
        if self.kind == "start":
            return AT_START
        kinds = [hashed_as(types[column]) for column in self.by if column in types]
        if self.kind == "key" and self.until is None and all(kinds):
            key = tuple(column.lower() for column in self.by)
            function = f"{self.function} {kinds}"
            return Contract(False, self.inclusive, frozenset({key}), function)
        return Contract(inclusive=self.inclusive)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def from_json(found: dict[str, object]) -> Sampling:
    """A strategy as a manifest keeps it."""
    return Sampling(**{**found, "by": tuple(found["by"])})  # type: ignore[arg-type]


def weights(sampling: Sampling) -> list[float]:
    """What each point brings, the others held against it.

    >>> weights(Sampling("row", points=3, growth=2.0))
    [1.0, 2.0, 4.0]
    >>> weights(Sampling("row", points=3, first=0.5))
    [0.5, 0.25, 0.25]
    """
    if sampling.first is None or sampling.points == 1:
        return [sampling.growth**n for n in range(sampling.points)]
    rest = [sampling.growth**n for n in range(sampling.points - 1)]
    share = (1 - sampling.first) / sum(rest)
    return [sampling.first, *(one * share for one in rest)]


def thresholds(sampling: Sampling) -> list[int]:
    """Where, of all hashes, each point but the last ends.

    >>> [t * 7 // HASHES for t in thresholds(Sampling("row", points=3, growth=2.0))]
    [1, 3]
    """
    each = weights(sampling)
    total, ends, so_far = sum(each), list[int](), 0.0
    for one in each[:-1]:
        so_far += one
        ends.append(round(so_far / total * HASHES))
    return ends


def start_text(sampling: Sampling, columns: Sequence[str], types: Sequence[str]) -> str:
    """Spark SQL of a tuple's progress-start P+."""
    known = dict(zip(columns, types, strict=True))
    match sampling.kind:
        case "start":
            return "0"
        case "key":
            return by_hash(sampling, [hashed(column, known) for column in sampling.by])
        case "row":
            return by_hash(sampling, [hashed(column, known) for column in columns])
        case "own":
            return f"LEAST(GREATEST(CAST({sampling.by[0]} AS INT), 0), {sampling.points - 1})"
        case "order":
            place = f"ROW_NUMBER() OVER (ORDER BY {order_of(sampling.by, columns)})"
            return by_share(sampling, place, "COUNT(*) OVER ()")
        case _:
            strata = ", ".join(f"`{name}`" for name in sampling.by)
            order = ", ".join([hash_of(sampling, columns, known), *quoted(columns)])
            place = f"ROW_NUMBER() OVER (PARTITION BY {strata} ORDER BY {order})"
            share = by_share(sampling, place, f"COUNT(*) OVER (PARTITION BY {strata})")
            return f"CASE WHEN {place} <= {sampling.least} THEN 0 ELSE {share} END"


def until_text(sampling: Sampling, start: str) -> str:
    """Spark SQL of a tuple's progress-end P-."""
    if sampling.until is not None:
        return f"CAST({sampling.until} AS INT)"
    if sampling.stay is None:
        return str(FOREVER)
    return f"({start}) + {sampling.stay}"


def quoted(columns: Sequence[str]) -> list[str]:
    return [f"`{column}`" for column in columns]


def order_of(by: Sequence[str], columns: Sequence[str]) -> str:
    """The order that is asked for, ties broken by all columns."""
    return ", ".join([*by, *quoted(columns)])


def hashed(column: str, types: dict[str, str]) -> str:
    """A column as it is hashed; whole numbers of all sizes alike, so that keys of tables agree."""
    if column not in types:
        raise QueryError(
            f"there is no column `{column}` to sample by; there are {', '.join(types) or 'none'}"
        )
    return f"CAST(`{column}` AS BIGINT)" if types[column] in WHOLE else f"`{column}`"


def hash_of(sampling: Sampling, columns: Sequence[str], types: dict[str, str]) -> str:
    inside = ", ".join([f"{sampling.seed}L", *(hashed(column, types) for column in columns)])
    return f"PMOD(XXHASH64({inside}), {HASHES}L)"


def by_hash(sampling: Sampling, columns: list[str]) -> str:
    """The point that a hash falls to."""
    found = f"PMOD(XXHASH64({', '.join([f'{sampling.seed}L', *columns])}), {HASHES}L)"
    if sampling.even:
        return f"CAST(SHIFTRIGHT({found} * {sampling.points}, 32) AS INT)"
    return point_of(sampling, found)


def by_share(sampling: Sampling, place: str, total: str) -> str:
    """The point of the n-th of so many tuples."""
    if sampling.even:
        return f"CAST(({place} - 1) * {sampling.points} DIV {total} AS INT)"
    return point_of(sampling, f"CAST(({place} - 1) * {HASHES} DIV {total} AS BIGINT)")


def point_of(sampling: Sampling, share: str) -> str:
    """The point whose end is the first beyond a share of all hashes."""
    ends = ", ".join(f"{end}L" for end in thresholds(sampling))
    return f"SIZE(FILTER(ARRAY({ends}), hw_end -> {share} >= hw_end))" if ends else "0"

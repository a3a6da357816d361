"""What --table and --by say: which tables there are, and how the tuples of each enter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.cli.outcome import UsedWrongly
from headway.early.sampling import Sampling

NAME = re.compile(r"[A-Za-z_]\w*")
USUAL_POINTS = 20
FROM_START = Sampling("start", points=1)


@dataclass(frozen=True, slots=True)
class By:
    """One --by: the table it is for, or None for all that have the column, and the strategy."""

    table: str | None
    kind: str
    by: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ":".join([self.kind, *self.by]) if self.kind != "key" else ", ".join(self.by)


@dataclass(frozen=True, slots=True)
class Growth:
    """How a sample grows: over so many points, from this seed, each point so many times larger.

    first  the part of all tuples that the first point brings; None: it is as the others are
    """

    points: int = USUAL_POINTS
    seed: int = 0
    growth: float = 1.0
    first: float | None = None

    def sampling(self, by: By) -> Sampling:
        """The strategy of one table."""
        if by.kind == "start":
            return FROM_START
        return Sampling(by.kind, by.by, self.points, self.seed, self.growth, first=self.first)


def parse_tables(texts: Sequence[str]) -> dict[str, Path]:
    """The tables that were given, by name; all of them are there."""
    found: dict[str, Path] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not NAME.fullmatch(name) or not path:
            raise UsedWrongly(f"--table is NAME=PATH, such as orders=orders.parquet; got {text!r}")
        if name.lower() in {known.lower() for known in found}:
            raise UsedWrongly(f"--table names {name!r} twice; each table has a name of its own")
        if not Path(path).exists():
            raise UsedWrongly(f"table {name}: there is no file or folder {path}")
        found[name] = Path(path).absolute()  # Spark may have been started in another folder
    if not found:
        raise UsedWrongly("a question needs a table: --table NAME=PATH")
    return found


def parse_by(text: str, tables: Sequence[str]) -> By:
    """One --by as a strategy.

    >>> parse_by("o_orderkey", ["orders"])
    By(table=None, kind='key', by=('o_orderkey',))
    >>> parse_by("orders=strata:o_status", ["orders"])
    By(table='orders', kind='strata', by=('o_status',))
    """
    table, said, how = text.partition("=")
    if not said:
        return By(None, "key", (wanted(text, text),))
    if table not in tables:
        raise UsedWrongly(f"--by {text}: there is no table {table!r}, only {', '.join(tables)}")
    kind, colon, rest = how.partition(":")
    if colon and kind in ("strata", "order"):
        return By(table, kind, (wanted(rest, text),))
    if how in ("row", "start"):
        return By(table, how)
    return By(table, "key", (wanted(how, text),))


def wanted(name: str, text: str) -> str:
    """What a --by names, refused when that is nothing."""
    if not name.strip():
        raise UsedWrongly(f"--by {text!r} names no column; write --by COLUMN or --by TABLE=COLUMN")
    return name.strip()


def choose_samplings(
    columns: Mapping[str, Sequence[str]], bys: Sequence[By], growth: Growth
) -> dict[str, Sampling]:
    """How each table is sampled; one that no --by speaks of is there from the start.

    What is said of one table outranks what is said of all that have a column.
    """
    for by in bys:
        if by.table is None and not any(column_of(by, columns[name]) for name in columns):
            raise UsedWrongly(
                f"--by {by.by[0]}: no table to be annotated has such a column "
                f"({described(columns)}). A strategy needs its table, such as --by TABLE=row"
            )
    return {name: growth.sampling(by_of(name, columns[name], bys)) for name in columns}


def by_of(name: str, columns: Sequence[str], bys: Sequence[By]) -> By:
    """The one --by that speaks of a table."""
    own = [by for by in bys if by.table == name]
    found = own or [by for by in bys if by.table is None and column_of(by, columns)]
    if len(found) > 1:
        said = " and ".join(str(by) for by in found)
        raise UsedWrongly(f"table {name} would go by {said}; say which: --by {name}={found[0]}")
    if not found:
        return By(name, "start")
    if found[0].kind not in ("key", "strata"):
        return found[0]
    column = column_of(found[0], columns)
    if column is None:
        raise UsedWrongly(
            f"table {name} has no column {found[0].by[0]!r}; it has {', '.join(columns)}"
        )
    return By(name, found[0].kind, (column,))


def column_of(by: By, columns: Sequence[str]) -> str | None:
    """The column that a --by means, as the table itself spells it."""
    lower = {column.lower(): column for column in reversed(columns)}
    return lower.get(by.by[0].lower()) if by.by else None


def described(columns: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{name} has {', '.join(own)}" for name, own in columns.items()) or "none"


def largest(tables: Mapping[str, Path]) -> str:
    """The table with the most bytes; of two alike, the one that was named first."""
    return max(tables, key=lambda name: sum(size for _, _, size in files_of(tables[name])))


def files_of(path: Path) -> list[tuple[str, int, int]]:
    """The files of a table: name, when it was written (in ns), and size in bytes."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return [
        (str(file.relative_to(path.parent)), stat.st_mtime_ns, stat.st_size)
        for file, stat in ((file, file.stat()) for file in files)
    ]

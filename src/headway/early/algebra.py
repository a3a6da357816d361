"""The small algebra that every query is read into: what is asked, before how it is computed.

Columns have one flat name each (`alias.column`), so that an expression means the same in every
operator. Expressions are Spark SQL; what an operator must know of them is beside their text.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Term:
    """One scalar expression over flat columns."""

    text: str
    columns: frozenset[str]

    @property
    def column(self) -> str | None:
        """The column that the expression is as it stands, if it is one."""
        name = next(iter(self.columns), "")
        return name if self.text == f"`{name}`" else None


@dataclass(frozen=True, slots=True)
class Equality:
    """A condition `left = right` between two plain columns; joins and contracts live on these.

    It need not make them the same value: `'05' = 5` and `'5' = 5` hold in SQL, too.
    """

    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Condition:
    """One conjunct of a join or a filter, and the equality that it is, if it is one."""

    term: Term
    equality: Equality | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A named expression."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True)
class Call:
    """One aggregate of a group: `function(argument)`, with what changes its meaning."""

    name: str
    function: str
    argument: Term | None
    text: str
    distinct: bool = False
    where: Term | None = None
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Order:
    """One key of an order, with Spark's placement of nulls spelt out."""

    term: Term
    descending: bool
    nulls_first: bool

    @property
    def text(self) -> str:
        way = "DESC" if self.descending else "ASC"
        return f"{self.term.text} {way} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True, slots=True)
class Scan:
    """A base table under an alias."""

    table: str
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """One row of literals, there from the first point on."""


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner join of any number of relations; of one relation, a filter."""

    sources: tuple[Node, ...]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Outer:
    """A left or full outer join."""

    left: Node
    right: Node
    conditions: tuple[Condition, ...]
    full: bool = False


@dataclass(frozen=True, slots=True)
class Semi:
    """The rows of the left side that have a match on the right (or, `anti`, that have none)."""

    left: Node
    right: Node
    conditions: tuple[Condition, ...]
    anti: bool = False
    unknown_is_match: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Groups by keys with aggregates; without aggregates, the distinct keys."""

    child: Node
    keys: tuple[Output, ...]
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """New columns from old ones, row by row."""

    child: Node
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """All rows of each relation, column by column in order."""

    children: tuple[Node, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """INTERSECT or EXCEPT, of rows or (`every`) of each occurrence of a row."""

    kind: str
    left: Node
    right: Node
    names: tuple[str, ...]
    every: bool


@dataclass(frozen=True, slots=True)
class Over:
    """A window function: `function OVER (PARTITION BY ... ORDER BY ... frame)`."""

    name: str
    function: Term
    partition: tuple[Term, ...]
    order: tuple[Order, ...]
    frame: str
    breaks_ties: bool


@dataclass(frozen=True, slots=True)
class Windows:
    """The rows of a relation with window functions beside them."""

    child: Node
    overs: tuple[Over, ...]


@dataclass(frozen=True, slots=True)
class Top:
    """The first rows of an order, ties broken by all columns, so that the cut is one fact."""

    child: Node
    order: tuple[Order, ...]
    limit: int
    skip: int = 0


Node = Scan | Constant | Inner | Outer | Semi | Group | Project | Union | Compare | Windows | Top


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query: the relation, the columns to show, and the columns that order them."""

    node: Node
    shown: tuple[str, ...]
    order: tuple[Order, ...] = ()


def children_of(node: Node) -> list[Node]:
    """The relations that an operator reads, in their order."""
    found: list[Node] = []
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found += [one for one in value if isinstance(one, Node)]
    return found


def columns_of(node: Node) -> tuple[str, ...]:
    """The flat columns that a relation offers."""
    match node:
        case Scan(alias=alias, columns=columns):
            return tuple(f"{alias}.{column}" for column in columns)
        case Constant():
            return ()
        case Inner(sources=sources):
            return tuple(name for source in sources for name in columns_of(source))
        case Outer(left=left, right=right):
            return (*columns_of(left), *columns_of(right))
        case Semi(left=left):
            return columns_of(left)
        case Group(keys=keys, calls=calls):
            return (*(key.name for key in keys), *(call.name for call in calls))
        case Project(outputs=outputs):
            return tuple(output.name for output in outputs)
        case Union(names=names) | Compare(names=names):
            return names
        case Windows(child=child, overs=overs):
            return (*columns_of(child), *(over.name for over in overs))
        case Top(child=child):
            return columns_of(child)

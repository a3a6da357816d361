"""Names: each alias of a query gets a name of its own, and each column one flat name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from headway.early.algebra import Condition, Equality, Node, Order, Term
from headway.errors import NoRule

DIALECT = "spark"


@dataclass(slots=True)
class Names:
    """The aliases and made-up names that a whole query has used so far."""

    taken: set[str] = field(default_factory=set)
    made: int = 0

    def alias(self, wanted: str) -> str:
        name, n = wanted, 1
        while name in self.taken:
            n += 1
            name = f"{wanted}_{n}"
        self.taken.add(name)
        return name

    def new(self, kind: str) -> str:
        self.made += 1
        return f"hw_{kind}_{self.made}"


@dataclass(frozen=True, slots=True)
class Block:
    """A query that has been read: its relation, and the columns of it that are shown."""

    node: Node
    names: tuple[str, ...]
    columns: tuple[str, ...]
    order: tuple[Order, ...] = ()


@dataclass(slots=True)
class Scope:
    """What the names in one SELECT mean, the SELECT around it, and who reads a query in it."""

    tables: Mapping[str, Mapping[str, str]]
    names: Names
    read: Callable[[exp.Expr, Scope], Block]
    views: dict[str, exp.Expr] = field(default_factory=dict)
    outer: Scope | None = None
    aliases: dict[str, str] = field(default_factory=dict)

    def inner(self) -> Scope:
        """The scope of a subquery of this one."""
        return Scope(self.tables, self.names, self.read, dict(self.views), outer=self)

    def apart(self) -> Scope:
        """The scope of a derived table, which sees no alias of this one."""
        return Scope(self.tables, self.names, self.read, dict(self.views), outer=self.outer)

    def find(self, alias: str) -> tuple[str, bool]:
        """The one name behind an alias, and whether it belongs to this SELECT itself."""
        if alias in self.aliases:
            return self.aliases[alias], True
        if self.outer is None:
            raise NoRule(f"the source of `{alias}` is not seen")
        return self.outer.find(alias)[0], False


def flat(name: str) -> exp.Column:
    """A column by its flat name."""
    return exp.column(exp.to_identifier(name, quoted=True))


def flatten(tree: exp.Expr, scope: Scope) -> exp.Expr:
    """The same expression over flat columns; a subquery in it is left to be read by itself."""
    copied = tree.copy()
    for column in list(copied.find_all(exp.Column)):
        if not column.table or inside_query(column, copied):
            continue
        if isinstance(column.this, exp.Star):
            raise NoRule("a star inside an expression")
        if column.args.get("db"):
            raise NoRule(f"the field {column.sql(DIALECT)}")
        put = flat(f"{scope.find(column.table)[0]}.{column.name}")
        if column is copied:
            return put
        column.replace(put)
    return copied


def inside_query(node: exp.Expr, tree: exp.Expr) -> bool:
    """Whether a node belongs to a subquery of the tree."""
    above: exp.Expr | None = node
    while above is not None and above is not tree:
        above = above.parent
        if isinstance(above, exp.Query):
            return True
    return False


def outside(tree: exp.Expr, scope: Scope) -> bool:
    """Whether an expression reads a column of a SELECT around this one."""
    return any(not scope.find(c.table)[1] for c in tree.find_all(exp.Column) if c.table)


def as_term(flattened: exp.Expr) -> Term:
    """An expression over flat columns as a value of the algebra."""
    columns = frozenset(c.name for c in flattened.find_all(exp.Column) if c.name)
    return Term(flattened.sql(DIALECT), columns)


def as_condition(flattened: exp.Expr) -> Condition:
    """A conjunct over flat columns, with the equality that it may be."""
    bare = flattened.unnest()
    if isinstance(bare, exp.EQ):
        left, right = bare.left.unnest(), bare.right.unnest()
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            return Condition(as_term(flattened), Equality(left.name, right.name))
    return Condition(as_term(flattened))


def as_order(ordered: exp.Ordered, key: exp.Expr) -> Order:
    """One key of an order; Spark puts nulls first when it ascends and last when it descends."""
    descending = bool(ordered.args.get("desc"))
    said = ordered.args.get("nulls_first")
    return Order(as_term(key), descending, bool(said) if said is not None else not descending)


def conjuncts(tree: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that must all hold.

    An OR whose every branch repeats a part gives that part up, so that joins can use it.
    """
    if tree is None:
        return
    bare = tree.unnest()
    if isinstance(bare, exp.And):
        yield from conjuncts(bare.left)
        yield from conjuncts(bare.right)
        return
    if isinstance(bare, exp.Or):
        yield from shared_by_all(bare)
    yield bare


def shared_by_all(tree: exp.Or) -> list[exp.Expr]:
    """The parts that each branch of an OR repeats."""
    branches = [list(conjuncts_of_and(branch)) for branch in tree.flatten()]
    return [part for part in branches[0] if all(part in other for other in branches[1:])]


def conjuncts_of_and(tree: exp.Expr) -> Iterator[exp.Expr]:
    bare = tree.unnest()
    if isinstance(bare, exp.And):
        yield from conjuncts_of_and(bare.left)
        yield from conjuncts_of_and(bare.right)
    else:
        yield bare


def has_query(tree: exp.Expr) -> bool:
    """Whether an expression holds a subquery."""
    return tree.find(exp.Query) is not None


@dataclass(slots=True)
class Core:
    """FROM and WHERE of a SELECT: relations to be joined, what binds them, and what points out."""

    sources: list[Node]
    conditions: list[Condition] = field(default_factory=list)
    pointing_out: list[exp.Expr] = field(default_factory=list)

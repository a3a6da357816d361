"""A whole query: SELECT, set operations and WITH, read into the algebra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify

from headway.early.algebra import (
    Compare,
    Constant,
    Group,
    Inner,
    Node,
    Order,
    Output,
    Project,
    Query,
    Top,
    Union,
)
from headway.early.read.extremes import with_ties_told
from headway.early.read.filters import read_core
from headway.early.read.groups import grouped, is_grouped, read_keys
from headway.early.read.refuse import refuse_what_changes
from headway.early.read.scalars import attach_scalars
from headway.early.read.scope import (
    DIALECT,
    Block,
    Names,
    Scope,
    as_condition,
    as_order,
    as_term,
    conjuncts,
    flat,
    flatten,
    has_query,
)
from headway.early.read.sources import joined, renamed
from headway.early.read.windows import windowed
from headway.early.relation import MARK
from headway.errors import NoRule, QueryError

Schema = Mapping[str, Mapping[str, str]]
UNREAD = ("connect", "match", "cluster", "distribute", "sort", "kind", "hint", "into", "windows")


@lru_cache(maxsize=16)
def parse(sql: str) -> exp.Query:
    """The syntax tree of one query, or an error that says where it breaks; not to be changed."""
    if MARK in sql:
        raise QueryError(
            "the query holds a character of code 0, which has a meaning of its own here; write it "
            "as \\0 within a text"
        )
    try:
        tree = sqlglot.parse_one(sql, dialect=DIALECT)
    except sqlglot.errors.SqlglotError as error:
        causes = getattr(error, "errors", None)
        detail = causes[0]["description"] if causes else str(error)
        raise QueryError(f"the query does not parse: {detail}") from error
    if not isinstance(tree, exp.Query):
        raise QueryError(f"only a SELECT can be asked; got {sql.strip()[:60]!r}")
    refuse_what_changes(tree)
    return tree


def tables_in(sql: str) -> set[str]:
    """The names, in lower case, that a query reads from: tables, and views of its own."""
    return {table.name.lower() for table in parse(sql).find_all(exp.Table)}


def check_given(sql: str, given: Iterable[str]) -> None:
    """Refuse a query that reads a table which is not among those given, nor one of its own.

    >>> check_given("WITH a AS (SELECT 1 AS x) SELECT * FROM a, B", ["b"])
    """
    tree, named = parse(sql), {name.lower() for name in given}
    own = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    read = {one.name for one in tree.find_all(exp.Table) if isinstance(one.this, exp.Identifier)}
    missing = sorted(name for name in read if name.lower() not in named | own)
    if missing:
        raise QueryError(
            f"the question reads {', '.join(missing)}, but its tables are "
            f"{', '.join(sorted(named)) or 'none'}; give each table that it reads by its name"
        )


def read_query(sql: str, schema: Schema) -> Query:
    """Read a query over tables of known columns; raises NoRule for what the algebra lacks."""
    try:
        tree = qualify(with_ties_told(parse(sql).copy()), schema=dict(schema), dialect=DIALECT)
    except sqlglot.errors.SqlglotError as error:
        raise NoRule(f"names that cannot be told apart: {error}") from error
    # Spark does not tell names apart by case, and neither does what was qualified.
    tables = {
        name: {column.lower(): kind for column, kind in schema[name].items()} for name in schema
    }
    block = read_block(tree, Scope(tables, Names(), read_block))
    return Query(block.node, block.columns, block.order)


def read_block(tree: exp.Expr, scope: Scope) -> Block:
    """Read one query in a scope."""
    if isinstance(tree, exp.Subquery):
        if any(tree.args.get(part) for part in ("order", "limit", "offset", "with_")):
            raise NoRule("ORDER or LIMIT behind brackets")
        return read_block(tree.this, scope)
    views = tree.args.get("with_")
    if views is not None:
        if views.args.get("recursive"):
            raise NoRule("WITH RECURSIVE")
        for view in views.expressions:
            if view.args["alias"].columns:
                raise NoRule("WITH and a list of columns")
            if view.alias in scope.tables:
                raise NoRule(f"a WITH that hides the table {view.alias}")
            scope.views[view.alias] = view.this
    if isinstance(tree, exp.SetOperation):
        return read_set_operation(tree, scope)
    if isinstance(tree, exp.Select):
        return read_select(tree, scope)
    raise NoRule(type(tree).__name__)


def read_select(select: exp.Select, scope: Scope) -> Block:
    """Read a SELECT in the order in which it is evaluated."""
    for part in UNREAD:
        if select.args.get(part):
            raise NoRule(part.upper())
    core = read_core(select, scope)
    if core.pointing_out:
        raise NoRule("a correlation that is no plain condition of a subquery")
    node: Node = joined(core) if core.sources else Constant()
    if not core.sources and core.conditions:
        raise NoRule("WHERE without FROM")
    names = distinct_names([s.alias_or_name for s in select.selects])
    keys = [over_outputs(one.this, select) for one in sorts_of(select) if not is_name(one, names)]
    trees = [*(s.unalias() for s in select.selects), *keys]
    node, flattened = computed(node, select, trees, scope)
    return finished(select, node, names, flattened, scope)


def computed(
    node: Node, select: exp.Select, trees: list[exp.Expr], scope: Scope
) -> tuple[Node, list[exp.Expr]]:
    """Group, HAVING, window functions and QUALIFY; gives the expressions over what is left."""
    having, qualifies = select.args.get("having"), select.args.get("qualify")
    wanted = list(trees)
    tests = list(conjuncts(having.this)) if having else []
    ends = list(conjuncts(qualifies.this)) if qualifies else []
    if is_grouped(select):
        node, changed = grouped(node, read_keys(select, scope), [*wanted, *tests, *ends], scope)
    elif tests:
        raise NoRule("HAVING without a group")
    else:
        changed = [tree if has_query(tree) else flatten(tree, scope) for tree in [*wanted, *ends]]
    tested = [changed.pop(len(wanted)) for _ in tests]
    node, tested = with_scalars(node, tested, scope)
    if tested:
        node = Inner((node,), tuple(as_condition(tree) for tree in tested))
    node, changed = with_scalars(node, changed, scope)
    node, changed = windowed(node, changed, scope)
    left = changed[len(wanted) :]
    if left:
        node = Inner((node,), tuple(as_condition(tree) for tree in left))
    return node, changed[: len(wanted)]


def with_scalars(node: Node, trees: list[exp.Expr], scope: Scope) -> tuple[Node, list[exp.Expr]]:
    """Join the scalar subqueries that expressions hold."""
    changed = []
    for tree in trees:
        if has_query(tree):
            node, tree = attach_scalars(node, tree, scope, read_core)
        changed.append(tree)
    return node, changed


def sorts_of(tree: exp.Expr) -> list[exp.Ordered]:
    """The keys of ORDER BY."""
    order = tree.args.get("order")
    return list(order.expressions) if order else []


def is_name(ordered: exp.Ordered, names: Sequence[str]) -> bool:
    """Whether an ORDER BY key is the bare name of a shown column."""
    key = ordered.this
    return isinstance(key, exp.Column) and not key.table and key.name in names


def over_outputs(tree: exp.Expr, select: exp.Select) -> exp.Expr:
    """An ORDER BY key with the shown expressions in place of the names they are shown by."""
    shown = {s.alias_or_name: s.unalias() for s in select.selects}

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name in shown:
            return shown[node.name].copy()
        return node

    return tree.copy().transform(put)


def finished(
    select: exp.Select,
    node: Node,
    names: tuple[str, ...],
    trees: list[exp.Expr],
    scope: Scope,
) -> Block:
    """The shown columns, DISTINCT, the order and the limit."""
    prefix = scope.names.alias("out")
    shown = [Output(f"{prefix}.{name}", as_term(t)) for name, t in zip(names, trees, strict=False)]
    columns = tuple(output.name for output in shown)
    order: list[Order] = []
    hidden = iter(trees[len(names) :])
    for ordered in sorts_of(select):
        if is_name(ordered, names):
            order.append(as_order(ordered, flat(f"{prefix}.{ordered.this.name}")))
            continue
        key = as_term(next(hidden))
        same = next((output.name for output in shown if output.term == key), None)
        if same is None:
            if select.args.get("distinct"):
                raise NoRule("DISTINCT ordered by what is not shown")
            same = scope.names.new("order")
            shown.append(Output(same, key))
        order.append(as_order(ordered, flat(same)))
    node = Project(node, tuple(shown))
    distinct = select.args.get("distinct")
    if distinct is not None:
        if distinct.args.get("on"):
            raise NoRule("DISTINCT ON")
        node = Group(node, tuple(Output(c, as_term(flat(c))) for c in columns))
    return limited(Block(node, names, columns, tuple(order)), select)


def limited(block: Block, tree: exp.Query) -> Block:
    """The block cut at LIMIT and OFFSET."""
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    if limit is None and offset is None:
        return block
    count = literal(limit.expression) if limit is not None else 2**31 - 1
    skip = literal(offset.expression) if offset is not None else 0
    return Block(Top(block.node, block.order, count, skip), block.names, block.columns, block.order)


def literal(tree: exp.Expr | None) -> int:
    if isinstance(tree, exp.Literal) and not tree.is_string:
        return int(tree.name)
    raise NoRule("LIMIT that is no number")


def read_set_operation(tree: exp.SetOperation, scope: Scope) -> Block:
    """UNION, INTERSECT and EXCEPT."""
    if tree.args.get("by_name") or tree.args.get("side"):
        raise NoRule("BY NAME")
    left, right = (read_block(part, scope.apart()) for part in (tree.left, tree.right))
    if len(left.names) != len(right.names):
        raise QueryError(
            f"both sides of {tree.key.upper()} must show as many columns; "
            f"got {len(left.names)} and {len(right.names)}"
        )
    names = distinct_names(left.names)
    prefix = scope.names.alias("out")
    columns = tuple(f"{prefix}.{name}" for name in names)
    sides = tuple(renamed(side, prefix, names) for side in (left, right))
    every = not tree.args.get("distinct")
    node: Node
    if isinstance(tree, exp.Union):
        node = Union(sides, columns)
        if not every:
            node = Group(node, tuple(Output(c, as_term(flat(c))) for c in columns))
    else:
        node = Compare(tree.key.upper(), sides[0], sides[1], columns, every)
    order = []
    for ordered in sorts_of(tree):
        if not is_name(ordered, names):
            raise NoRule("a set operation ordered by what is not shown")
        order.append(as_order(ordered, flat(f"{prefix}.{ordered.this.name}")))
    return limited(Block(node, names, columns, tuple(order)), tree)


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once: a name that comes again gets a number."""
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(told)

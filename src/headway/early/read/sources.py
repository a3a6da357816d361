"""FROM and JOIN: base tables, derived tables and views, put together in the order they stand."""

from __future__ import annotations

from sqlglot import exp

from headway.early.algebra import Inner, Node, Outer, Output, Project, Scan, Semi, Term
from headway.early.read.scope import Block, Core, Scope, as_condition, conjuncts, flatten, has_query
from headway.errors import NoRule

PLAIN_JOINS = {"", "INNER", "CROSS"}


def read_sources(select: exp.Select, scope: Scope) -> Core:
    """The relations of FROM, joined as they are written."""
    if select.args.get("laterals"):
        raise NoRule("LATERAL VIEW")
    start = select.args.get("from_")
    if start is None:
        return Core([])
    core = Core([read_source(start.this, scope)])
    for join in select.args.get("joins") or ():
        add_join(core, join, scope)
    return core


def add_join(core: Core, join: exp.Join, scope: Scope) -> None:
    """Join one more relation to what is there."""
    if join.method or join.args.get("using"):
        raise NoRule(f"{join.method or 'USING'} join")
    right = read_source(join.this, scope)
    parts = list(conjuncts(join.args.get("on")))
    if any(has_query(part) for part in parts):
        raise NoRule("a subquery in ON")
    on = tuple(as_condition(flatten(part, scope)) for part in parts)
    kind, side = (join.kind or "").upper(), (join.side or "").upper()
    if not side and kind in PLAIN_JOINS:
        core.sources.append(right)
        core.conditions.extend(on)
        return
    left = joined(core)
    node: Node
    if kind in ("SEMI", "ANTI") and side in ("", "LEFT"):
        node = Semi(left, right, on, anti=kind == "ANTI")
    elif side == "LEFT" and kind in ("", "OUTER"):
        node = Outer(left, right, on)
    elif side == "RIGHT" and kind in ("", "OUTER"):
        node = Outer(right, left, on)
    elif side == "FULL":
        node = Outer(left, right, on, full=True)
    else:
        raise NoRule(f"{side} {kind} JOIN")
    core.sources, core.conditions = [node], []


def joined(core: Core) -> Node:
    """What is there so far as one relation."""
    if len(core.sources) == 1 and not core.conditions:
        return core.sources[0]
    return Inner(tuple(core.sources), tuple(core.conditions))


def read_source(source: exp.Expr, scope: Scope) -> Node:
    """One relation of FROM under its alias."""
    alias = source.alias_or_name
    if isinstance(source, exp.Table) and not isinstance(source.this, exp.Identifier):
        raise NoRule(f"the table function {source.sql('spark')}")
    if not isinstance(source, exp.Table | exp.Subquery):
        raise NoRule(f"{type(source).__name__} in FROM")
    if any(source.args.get(part) for part in ("sample", "pivots", "joins")):
        raise NoRule("TABLESAMPLE, PIVOT or a join in brackets")
    own = scope.names.alias(alias)
    scope.aliases[alias] = own
    if isinstance(source, exp.Table) and source.name not in scope.views:
        if source.name not in scope.tables:
            raise NoRule(f"the table `{source.name}`, which was not given")
        return Scan(source.name, own, tuple(scope.tables[source.name]))
    body = scope.views[source.name] if isinstance(source, exp.Table) else source.this
    block = scope.read(body, scope.apart())
    named = source.args.get("alias")
    names = tuple(c.name for c in named.columns) if named and named.columns else block.names
    return renamed(block, own, names)


def renamed(block: Block, alias: str, names: tuple[str, ...]) -> Node:
    """A block's columns under the names by which the SELECT around it knows them."""
    outputs = (
        Output(f"{alias}.{name}", Term(f"`{column}`", frozenset({column})))
        for name, column in zip(names, block.columns, strict=True)
    )
    return Project(block.node, tuple(outputs))

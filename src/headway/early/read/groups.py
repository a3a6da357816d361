"""GROUP BY: the keys, the aggregates, and the expressions that stand on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from sqlglot import exp

from headway.early.algebra import (
    Call,
    Condition,
    Group,
    Inner,
    Node,
    Output,
    Project,
    Term,
    Union,
)
from headway.early.read.scope import DIALECT, Scope, as_term, flat, flatten
from headway.errors import NoRule
from headway.flow.sql import AGGREGATES, function_name


@dataclass(slots=True)
class Extracted:
    """Expressions over a group's columns, and the aggregates that were taken out of them."""

    trees: list[exp.Expr]
    calls: list[Call] = field(default_factory=list)


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT aggregates."""
    order = select.args.get("order")
    trees = [*select.selects, *(order.expressions if order else ())]
    having = select.args.get("having")
    return bool(select.args.get("group") or having) or any(
        next(aggregates_in(tree), None) is not None for tree in trees
    )


def aggregates_in(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates of an expression; a function that has OVER behind it is none."""
    if isinstance(tree, exp.Query):
        return
    if isinstance(tree, exp.Window):
        for part in tree.this.iter_expressions():
            yield from aggregates_in(part)
        for name in ("partition_by", "order"):
            found = tree.args.get(name)
            for part in found if isinstance(found, list) else [found] if found else []:
                yield from aggregates_in(part)
        return
    if is_aggregate(tree):
        yield tree
        return
    for part in tree.iter_expressions():
        yield from aggregates_in(part)


def is_aggregate(tree: exp.Expr) -> bool:
    """Whether a node is an aggregate as a whole, with its FILTER and its WITHIN GROUP."""
    if isinstance(tree, exp.Filter | exp.WithinGroup):
        return True
    if isinstance(tree, exp.Grouping | exp.GroupingId):
        return False
    if isinstance(tree, exp.AggFunc):
        return True
    return isinstance(tree, exp.Func) and function_name(tree) in AGGREGATES


def extract(trees: Sequence[exp.Expr], keys: Sequence[Output], scope: Scope) -> Extracted:
    """Take the aggregates out of expressions, and put keys where their expressions stand."""
    extracted = Extracted([])
    by_text = {key.term.text: key.name for key in keys}
    for tree in trees:
        flattened = flatten(tree, scope)
        for found in list(aggregates_in(flattened)):
            put = flat(named_call(found, scope, extracted.calls).name)
            flattened = put if found is flattened else replaced(found, put, flattened)
        extracted.trees.append(over_keys(flattened, by_text))
    return extracted


def replaced(found: exp.Expr, put: exp.Expr, tree: exp.Expr) -> exp.Expr:
    found.replace(put)
    return tree


def over_keys(tree: exp.Expr, by_text: dict[str, str]) -> exp.Expr:
    """The expression with each key's column where the key's expression stands."""

    def put(node: exp.Expr) -> exp.Expr:
        name = by_text.get(node.sql(DIALECT))
        return flat(name) if name is not None else node

    return tree.transform(put)


def named_call(tree: exp.Expr, scope: Scope, calls: list[Call]) -> Call:
    """The aggregate as a value with a name; equal aggregates are computed once."""
    text = tree.sql(DIALECT)
    for call in calls:
        if call.text == text:
            return call
    call = read_call(tree, text, scope.names.new("agg"))
    calls.append(call)
    return call


def read_call(tree: exp.Expr, text: str, name: str) -> Call:
    """One aggregate taken apart as far as a rule may want it."""
    where = None
    body = tree
    if isinstance(body, exp.Filter):
        where, body = as_term(body.expression.this), body.this
    columns = frozenset(c.name for c in tree.find_all(exp.Column))
    function = function_name(body) if isinstance(body, exp.Func) else "other"
    argument = body.args.get("this") if isinstance(body, exp.Func) else None
    distinct = isinstance(argument, exp.Distinct)
    if isinstance(argument, exp.Distinct):
        argument = argument.expressions[0] if len(argument.expressions) == 1 else None
        function = function if argument is not None else "other"
    if isinstance(argument, exp.Star):
        argument = None
    elif isinstance(body, exp.Count) and len(body.expressions):
        function = "other"
    term = as_term(argument) if isinstance(argument, exp.Expr) else None
    if isinstance(body, (exp.Anonymous, exp.WithinGroup)):
        function, term = "other", None
    return Call(name, function, term, text, distinct, where, columns)


def read_keys(select: exp.Select, scope: Scope) -> list[tuple[Output, ...]]:
    """The grouping sets of a SELECT: one for a plain GROUP BY, several for ROLLUP and friends."""
    group = select.args.get("group")
    if group is None:
        return [()]
    if any(group.args.get(part) for part in ("all", "totals", "rollup", "cube", "grouping_sets")):
        raise NoRule("GROUP BY ALL, or WITH behind GROUP BY")
    known: list[Output] = []
    sets: list[tuple[Output, ...]] = [()]
    for tree in group.expressions:
        if isinstance(tree, exp.Rollup | exp.Cube | exp.GroupingSets):
            more = expanded(tree, scope, known)
        else:
            more = [(key_of(tree, scope, known),)]
        sets = [merged(one, other) for one in sets for other in more]
    return sets


def expanded(part: exp.Expr, scope: Scope, known: list[Output]) -> list[tuple[Output, ...]]:
    """The grouping sets that ROLLUP, CUBE or GROUPING SETS stand for."""
    members: list[tuple[Output, ...]] = []
    for tree in part.expressions:
        trees = tree.expressions if isinstance(tree, exp.Tuple) else [tree.unnest()]
        members.append(tuple(key_of(one, scope, known) for one in trees))
    if isinstance(part, exp.GroupingSets):
        return members
    if isinstance(part, exp.Rollup):
        return [joined_keys(members[:n]) for n in range(len(members), -1, -1)]
    sizes = range(len(members), -1, -1)
    return [joined_keys(chosen) for n in sizes for chosen in combinations(members, n)]


def joined_keys(members: Sequence[tuple[Output, ...]]) -> tuple[Output, ...]:
    keys: tuple[Output, ...] = ()
    for member in members:
        keys = merged(keys, member)
    return keys


def merged(one: tuple[Output, ...], other: tuple[Output, ...]) -> tuple[Output, ...]:
    return (*one, *(key for key in other if key not in one))


def key_of(tree: exp.Expr, scope: Scope, known: list[Output]) -> Output:
    """A grouping key; a plain column keeps its name, so that contracts see it."""
    flattened = flatten(tree, scope)
    term = as_term(flattened)
    for key in known:
        if key.term == term:
            return key
    if isinstance(flattened, exp.Column):
        key = Output(flattened.name, term)
    else:
        key = Output(scope.names.new("key"), term)
    known.append(key)
    return key


def grouped(
    child: Node, sets: Sequence[tuple[Output, ...]], trees: Sequence[exp.Expr], scope: Scope
) -> tuple[Node, list[exp.Expr]]:
    """The groups of a relation and the expressions over them; one group for each grouping set."""
    every = joined_keys(list(sets))
    extracted = extract(trees, every, scope)
    known = {key.name for key in every} | {call.name for call in extracted.calls}
    for tree in extracted.trees:
        stray = {c.name for c in tree.find_all(exp.Column) if c.name} - known
        if stray and not tree.find(exp.Query):
            raise NoRule(f"a column outside GROUP BY: {', '.join(sorted(stray))}")
    if len(sets) == 1:
        refuse_grouping(extracted.trees)
        return Group(child, every, tuple(extracted.calls)), extracted.trees
    return by_sets(child, sets, every, extracted, scope)


def refuse_grouping(trees: Sequence[exp.Expr]) -> None:
    if any(tree.find(exp.Grouping, exp.GroupingId) for tree in trees):
        raise NoRule("grouping() without several grouping sets")


def by_sets(
    child: Node,
    sets: Sequence[tuple[Output, ...]],
    every: tuple[Output, ...],
    extracted: Extracted,
    scope: Scope,
) -> tuple[Node, list[exp.Expr]]:
    """One group for each set, the keys that it leaves out as NULL, and all of them together.

    Of several sets the one without keys is answered only where there are rows, as in Spark.
    """
    marks = {key.name: scope.names.new("left_out") for key in every}
    names = (
        *(key.name for key in every),
        *(call.name for call in extracted.calls),
        *marks.values(),
    )
    parts = []
    for keys in sets:
        shown = [Output(k.name, as_term(flat(k.name)) if k in keys else NULL) for k in every]
        shown += [Output(call.name, as_term(flat(call.name))) for call in extracted.calls]
        shown += [Output(marks[key.name], ZERO if key in keys else ONE) for key in every]
        group = Group(child, keys, tuple(extracted.calls))
        parts.append(Project(group if keys else where_any(group, scope), tuple(shown)))
    trees = [told(tree, marks, every) for tree in extracted.trees]
    return Union(tuple(parts), names), trees


def where_any(group: Group, scope: Scope) -> Node:
    """A group without keys, if any row is in it."""
    name = scope.names.new("rows")
    counted = replace(group, calls=(*group.calls, Call(name, "count", None, "COUNT(*)")))
    return Inner((counted,), (Condition(Term(f"`{name}` > 0", frozenset({name}))),))


NULL, ZERO, ONE = (Term(text, frozenset()) for text in ("NULL", "0Y", "1Y"))


def told(tree: exp.Expr, marks: dict[str, str], every: tuple[Output, ...]) -> exp.Expr:
    """grouping(key) as the mark that says whether a set leaves the key out."""

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.GroupingId):
            raise NoRule("grouping_id()")
        if isinstance(node, exp.Grouping):
            inner = node.this if node.this is not None else node.expressions[0]
            if not isinstance(inner, exp.Column) or inner.name not in marks:
                raise NoRule("grouping() of what is no key")
            return flat(marks[inner.name])
        return node

    return tree.transform(put)

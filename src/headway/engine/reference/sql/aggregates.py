"""An SQL expression over aggregates, such as ``sum(x) / count(*)``, kept for one group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from headway.engine.reference.sql import folds
from headway.engine.reference.sql.compile import Columns, compile_tree
from headway.engine.reference.sql.folds import Fold
from headway.engine.reference.sql.order import rank
from headway.engine.reference.sql.parse import parse_named
from headway.engine.reference.sql.typed import Scope, Typed, cast
from headway.engine.reference.sql.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    STRING,
    Type,
    array_of,
    decimal,
)
from headway.errors import FlowError

ORDER_FREE = {"sort_array", "array_sort", "size", "cardinality", "array_size", "array_contains",
              "array_max", "array_min"}  # fmt: skip
BY_ORDER = {"first", "first_value", "last", "last_value", "any_value", "collect_list", "array_agg",
            "collect_set", "listagg", "string_agg"}  # fmt: skip
ESTIMATES = {"approx_count_distinct", "approx_percentile", "percentile_approx", "count_min_sketch",
             "approx_top_k"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """How one aggregate works: its type, a fresh fold, and its argument; null arguments skip."""

    type: Type
    fresh: Callable[[], Fold]
    argument: Typed | None


@dataclass(frozen=True, slots=True)
class Call:
    """One aggregate in an expression, fed from each record that its FILTER admits."""

    made: Made
    admits: Typed | None

    def feed(self, fold: Fold, scope: Scope) -> None:
        """Take a record into a fold."""
        if self.admits is not None and self.admits.of(scope) is not True:
            return
        argument = self.made.argument
        value = True if argument is None else argument.of(scope)
        if value is not None:
            fold.add(value)


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An expression over aggregates: what to keep for a group, and how to answer from it."""

    type: Type
    calls: tuple[Call, ...]
    outer: Typed

    def fresh(self) -> list[Fold]:
        """The state of a group without records."""
        return [call.made.fresh() for call in self.calls]

    def feed(self, state: Sequence[Fold], scope: Scope) -> None:
        """Take one record into a group's state."""
        for call, fold in zip(self.calls, state, strict=True):
            call.feed(fold, scope)

    def result(self, state: Sequence[Fold], key: Scope) -> Any:
        """The answer for a group."""
        slots = {slot(place): fold.result() for place, fold in enumerate(state)}
        return self.outer.of({**key, **slots})


def slot(place: int) -> str:
    """The name under which the outer expression sees an aggregate."""
    return f"__aggregate_{place}"


def compile_aggregation(text: str, columns: Columns, key: Sequence[str]) -> Aggregation:
    """An aggregate expression over typed columns; outside its aggregates it may use the key."""
    tree = parse_named(text)
    calls: list[Call] = []

    def replace(node: exp.Expression) -> exp.Expression:
        call = read_call(node, columns)
        if call is None:
            return node
        calls.append(call)
        return exp.column(slot(len(calls) - 1))

    # sqlglot's transform goes top down and does not enter what it replaced.
    outer_tree = tree.transform(replace)
    slots = {slot(place): call.made.type for place, call in enumerate(calls)}
    kept = {name: columns[name] for name in key}
    outer = compile_tree(outer_tree, {**kept, **slots})
    return Aggregation(outer.type, tuple(calls), outer)


def read_call(node: exp.Expression, columns: Columns) -> Call | None:
    """The aggregate that a node is, if it is one."""
    admits = None
    inner = node
    if isinstance(node, exp.Filter):
        admits = cast(compile_tree(node.expression.this, columns), BOOLEAN)
        inner = node.this
    if not isinstance(inner, exp.Anonymous):
        return None
    name = str(inner.name).lower()
    refuse_guesses(name, inner)
    if name not in AGGREGATES:
        return None
    args, distinct = list(inner.expressions), False
    if len(args) == 1 and isinstance(args[0], exp.Distinct):
        args, distinct = args[0].expressions, True
    typed = [compile_tree(arg, columns) for arg in args if not isinstance(arg, exp.Star)]
    made = AGGREGATES[name](typed)
    if distinct:
        fresh = made.fresh
        made = Made(made.type, lambda: folds.Distinct(fresh()), made.argument)
    return Call(made, admits)


def refuse_guesses(name: str, node: exp.Anonymous) -> None:
    """Refuse aggregates whose answer depends on the order of records, or is an estimate."""
    if name in ESTIMATES:
        raise FlowError(
            f"{name}() estimates, so no one answer is right and the reference engine refuses it; "
            "the spark engine runs it"
        )
    outer = node.parent
    tamed = isinstance(outer, exp.Anonymous) and str(outer.name).lower() in ORDER_FREE
    if name in BY_ORDER and not (name in AGGREGATES and tamed):
        raise FlowError(
            f"{name}() depends on the order in which Spark meets records, so no answer is right "
            "and the reference engine refuses it; use min, max, max_by, or sort_array(collect_...)"
        )


def counting(args: Sequence[Typed]) -> Made:
    """count(*), or count of rows in which no argument is null."""
    if not args:
        return Made(BIGINT, folds.Count, None)
    return Made(BIGINT, folds.Count, together(args))


def together(args: Sequence[Typed]) -> Typed:
    """Several arguments as one value, null if one of them is."""
    if len(args) == 1:
        return args[0]

    def of(scope: Scope) -> tuple[Any, ...] | None:
        values = tuple(arg.of(scope) for arg in args)
        return None if any(value is None for value in values) else values

    return Typed(STRING, of)


def counting_true(args: Sequence[Typed]) -> Made:
    """count_if."""
    condition = cast(args[0], BOOLEAN)
    return Made(BIGINT, folds.Count, Typed(BOOLEAN, lambda scope: condition.of(scope) or None))


def summing(args: Sequence[Typed]) -> Made:
    """sum: bigint of whole numbers, ten digits more of decimals, double of the rest."""
    (arg,) = args
    if arg.type.integral:
        return Made(BIGINT, lambda: folds.Total(BIGINT), arg)
    if arg.type.kind == "decimal":
        kind = Type("decimal", precision=min(38, arg.type.precision + 10), scale=arg.type.scale)
        return Made(kind, lambda: folds.Total(kind), arg)
    return spread(folds.total)(args)


def averaging(args: Sequence[Typed]) -> Made:
    """avg: four digits more of decimals, double of the rest."""
    (arg,) = args
    if arg.type.kind != "decimal":
        return spread(folds.mean)(args)
    kind = decimal(arg.type.precision + 4, arg.type.scale + 4)
    return Made(kind, lambda: folds.DecimalMean(kind), arg)


def spread(finish: Callable[..., float | None]) -> Callable[[Sequence[Typed]], Made]:
    """An aggregate of doubles from their sums and squares."""
    return lambda args: Made(DOUBLE, lambda: folds.Moments(finish), cast(args[0], DOUBLE))


def running(take: Callable[[Any, Any], Any]) -> Callable[[Sequence[Typed]], Made]:
    """An aggregate that keeps one value of its argument's type."""
    return lambda args: Made(args[0].type, lambda: folds.Running(take), args[0])


def logical(take: Callable[[Any, Any], Any]) -> Callable[[Sequence[Typed]], Made]:
    """An aggregate of truths."""
    return lambda args: Made(BOOLEAN, lambda: folds.Running(take), cast(args[0], BOOLEAN))


def collecting(distinct: bool) -> Callable[[Sequence[Typed]], Made]:
    """All values, or all different ones."""

    def fresh() -> Fold:
        return folds.Distinct(folds.Collected()) if distinct else folds.Collected()

    return lambda args: Made(array_of(args[0].type), fresh, args[0])


def extreme(name: str, better: Callable[[Any, Any], bool]) -> Callable[[Sequence[Typed]], Made]:
    """max_by and min_by."""

    def rule(args: Sequence[Typed]) -> Made:
        value, order = args
        pair = Typed(value.type, lambda scope: (value.of(scope), order.of(scope)))
        return Made(value.type, lambda: folds.Extreme(name, better), pair)

    return rule


def percentile(args: Sequence[Typed]) -> Made:
    """percentile(x, share) and median(x)."""
    share = float(cast(args[1], DOUBLE).of({})) if len(args) > 1 else 0.5
    return Made(DOUBLE, lambda: folds.Percentile(share), cast(args[0], DOUBLE))


def larger(left: Any, right: Any) -> Any:
    """The larger of two values."""
    return left if rank(left) >= rank(right) else right


def smaller(left: Any, right: Any) -> Any:
    """The smaller of two values."""
    return left if rank(left) <= rank(right) else right


AGGREGATES: dict[str, Callable[[Sequence[Typed]], Made]] = {
    "count": counting,
    "count_if": counting_true,
    "sum": summing,
    "avg": averaging,
    "mean": averaging,
    "min": running(smaller),
    "max": running(larger),
    "bool_and": logical(lambda a, b: a and b),
    "every": logical(lambda a, b: a and b),
    "bool_or": logical(lambda a, b: a or b),
    "some": logical(lambda a, b: a or b),
    "bit_and": running(lambda a, b: a & b),
    "bit_or": running(lambda a, b: a | b),
    "bit_xor": running(lambda a, b: a ^ b),
    "variance": spread(folds.var_samp),
    "var_samp": spread(folds.var_samp),
    "var_pop": spread(folds.var_pop),
    "stddev": spread(folds.stddev_samp),
    "std": spread(folds.stddev_samp),
    "stddev_samp": spread(folds.stddev_samp),
    "stddev_pop": spread(folds.stddev_pop),
    "max_by": extreme("max_by", lambda new, old: new > old),
    "min_by": extreme("min_by", lambda new, old: new < old),
    "percentile": percentile,
    "median": percentile,
    "collect_set": collecting(distinct=True),
    "collect_list": collecting(distinct=False),
    "array_agg": collecting(distinct=False),
}

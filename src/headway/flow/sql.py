"""SQL expressions read without Spark: their output name, the columns they use, what they do."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from headway.errors import FlowError
from headway.flow.expression import Expression

GENERATORS = {"explode", "explode_outer"}
WIDE = {"posexplode", "posexplode_outer", "inline", "inline_outer", "stack", "json_tuple"}
AGGREGATES = {
    "mean", "std", "every", "some", "any", "try_sum", "try_avg", "bool_and", "bool_or", "count_if",
    "histogram_numeric", "count_min_sketch", "kll_sketch_agg_bigint", "kll_sketch_agg_double",
    "max_by", "min_by",
}  # fmt: skip
PRESENT = {"now", "today", "yesterday", "tomorrow"}
# A replayed batch must give the same answer, so nothing may depend on chance or on the clock.
CHANGING = {
    "rand", "randn", "random", "uuid", "shuffle", "randstr", "uniform", "now",
    "monotonically_increasing_id", "spark_partition_id", "input_file_name",
    "current_timestamp", "current_date", "current_time", "curdate", "localtimestamp",
}  # fmt: skip


def parse_expression(text: str) -> Expression:
    """Read one SQL expression.

    >>> word = parse_expression("explode(split(lower(text), ' ')) AS word")
    >>> word.name, sorted(word.columns), word.generator
    ('word', ['text'], True)
    """
    tree = parse_tree(text)
    functions = {function_name(node) for node in tree.find_all(exp.Func)}
    for name in sorted(functions & CHANGING):
        raise FlowError(
            f"{name}() in {text!r} gives another value when a batch is replayed, so answers could "
            "not be exact; use a column of the record, such as its time, instead"
        )
    for name in sorted(functions & WIDE):
        raise FlowError(
            f"{name}() in {text!r} makes several columns at once; use explode(...), which makes "
            "one, and take it apart in the next map"
        )
    inner = tree.this if isinstance(tree, exp.Alias) else tree
    return Expression(
        text=text,
        name=tree.output_name or None,
        columns=frozenset(used_columns(tree)),
        aggregate=is_aggregate(inner, functions),
        generator=bool(functions & GENERATORS),
    )


def is_aggregate(tree: exp.Expression, functions: set[str]) -> bool:
    """Whether an expression aggregates; what sqlglot has no class for is known by its name."""
    return bool(functions & AGGREGATES) or tree.find(exp.AggFunc) is not None


def refuse_what_no_step_can_be(tree: exp.Expression, text: str) -> None:
    """Refuse subqueries, window functions and texts that mean the present time."""
    if tree.find(exp.Subquery, exp.Select):
        raise FlowError(f"{text!r} holds a subquery; a step sees one record at a time, so use none")
    if tree.find(exp.Window):
        raise FlowError(f"{text!r} uses OVER; put the stream on windows with .window(...) instead")
    for literal in tree.find_all(exp.Literal):
        read_as_time = isinstance(literal.parent, exp.Cast | exp.TsOrDsToDate | exp.StrToTime)
        if read_as_time and literal.name.strip().lower() in PRESENT:
            raise FlowError(
                f"{literal.name!r} in {text!r} depends on when it is read, so a replayed batch "
                "would answer otherwise; use a column of the record, such as its time"
            )


def parse_tree(text: str) -> exp.Expression:
    """Parse one expression in Spark's dialect, or say where it breaks."""
    if not isinstance(text, str) or not text.strip():
        raise FlowError(f"an SQL expression must be a non-empty text; got {text!r}")
    try:
        select = sqlglot.parse_one(f"SELECT {text}", dialect="spark")
    except sqlglot.errors.SqlglotError as error:
        causes = getattr(error, "errors", None)
        detail = causes[0]["description"] if causes else str(error)
        raise FlowError(f"SQL expression {text!r} does not parse: {detail}") from error
    if (
        not isinstance(select, exp.Select)
        or len(select.expressions) != 1
        or select.args.get("from_")
    ):
        raise FlowError(
            f"{text!r} is not one SQL expression; pass each expression as an argument of its own"
        )
    tree: exp.Expression = select.expressions[0]
    refuse_what_no_step_can_be(tree, text)
    return tree


def without_alias(text: str) -> exp.Expression:
    """The parsed expression behind its name."""
    parsed = parse_tree(text)
    return parsed.this if isinstance(parsed, exp.Alias) else parsed


def function_name(node: exp.Func) -> str:
    """The name of a called function as Spark knows it, in lower case."""
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return str(node.sql_name()).lower()


def used_columns(tree: exp.Expression) -> set[str]:
    """The columns of the input that an expression reads; names that a lambda binds are none."""
    names: set[str] = set()
    for column in tree.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        root = column.parts[0].name
        if root not in bound_above(column):
            names.add(root)
    return names


def bound_above(node: exp.Expression) -> set[str]:
    """The names that lambdas around a node bind."""
    bound: set[str] = set()
    parent = node.parent
    while parent is not None:
        if isinstance(parent, exp.Lambda):
            bound |= {parameter.name for parameter in parent.expressions}
        parent = parent.parent
    return bound

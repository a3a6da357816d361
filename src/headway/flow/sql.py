"""SQL expressions read without Spark: their output name, the columns they use, what they do."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from headway.errors import FlowError

GENERATORS = {"explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "stack"}
# A replayed batch must give the same answer, so nothing may depend on chance or on the clock.
CHANGING = {
    "rand", "randn", "random", "uuid", "shuffle", "randstr", "uniform", "now",
    "monotonically_increasing_id", "spark_partition_id", "input_file_name",
    "current_timestamp", "current_date", "curdate", "localtimestamp", "unix_timestamp_now",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expression:
    """One SQL expression, checked for syntax; `name` is its output column, if it has one."""

    text: str
    name: str | None
    columns: frozenset[str]
    aggregate: bool
    generator: bool

    @property
    def is_star(self) -> bool:
        """Whether this is ``*``: every column there is."""
        return self.text.strip() == "*"

    def tree(self) -> exp.Expression:
        """The parsed expression, without its alias."""
        parsed = parse_tree(self.text)
        return parsed.this if isinstance(parsed, exp.Alias) else parsed


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
    inner = tree.this if isinstance(tree, exp.Alias) else tree
    return Expression(
        text=text,
        name=tree.output_name or None,
        columns=frozenset(used_columns(tree)),
        aggregate=any(True for _ in inner.find_all(exp.AggFunc)),
        generator=bool(functions & GENERATORS),
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
    if tree.find(exp.Subquery, exp.Select):
        raise FlowError(f"{text!r} holds a subquery; a step sees one record at a time, so use none")
    return tree


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

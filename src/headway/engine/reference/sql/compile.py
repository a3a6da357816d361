"""A parsed expression and the types of its columns, made into a function of one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from headway.engine.reference.sql import arithmetic, operators
from headway.engine.reference.sql.functions import texts
from headway.engine.reference.sql.functions.arrays import access_field, access_item, make_array
from headway.engine.reference.sql.functions.catalogue import FUNCTIONS
from headway.engine.reference.sql.functions.lambdas import HIGHER_ORDER
from headway.engine.reference.sql.parse import parse_named
from headway.engine.reference.sql.typed import Scope, Typed, call_rule, cast, constant, strictly
from headway.engine.reference.sql.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DAYS,
    DOUBLE,
    INT,
    INTERVAL,
    RANGES,
    STRING,
    VOID,
    SqlFault,
    Type,
    decimal,
    read_type,
)
from headway.errors import FlowError

Columns = Mapping[str, Type]
Form = Callable[[Any, Columns], Typed]
SPANS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def compile_text(text: str, columns: Columns) -> Typed:
    """An SQL expression over typed columns, ready to run."""
    return compile_tree(parse_named(text), columns)


def compile_tree(tree: exp.Expression, columns: Columns) -> Typed:
    """One node of a tree, ready to run."""
    form = FORMS.get(type(tree))
    if form is not None:
        return form(tree, columns)
    raise FlowError(
        f"the reference engine does not know {tree.sql('spark')!r} ({type(tree).__name__}); the "
        "spark engine runs whatever Spark does, but nothing defines what is right there"
    )


def column(tree: exp.Column, columns: Columns) -> Typed:
    """A column, or a field inside one."""
    first, *fields = (part.name for part in tree.parts)
    found = named(first, columns)
    for name in fields:
        found = access_field(found, name)
    return found


def named(name: str, columns: Columns) -> Typed:
    """A column by its name; like Spark, capitals do not matter."""
    fits = [name] if name in columns else [c for c in columns if c.lower() == name.lower()]
    if len(fits) != 1:
        raise FlowError(f"column {name!r} is not there; the columns are {', '.join(columns)}")
    (place,) = fits
    return Typed(columns[place], lambda scope: scope[place])


def literal(tree: exp.Literal, _: Columns) -> Typed:
    """A literal: text, a whole number, a decimal, or a double where it has an exponent."""
    text = tree.name
    if tree.is_string:
        return constant(STRING, text)
    if "e" in text.lower():
        return constant(DOUBLE, float(text))
    if "." in text:
        value = Decimal(text)
        scale = -int(value.as_tuple().exponent)
        return constant(decimal(max(len(value.as_tuple().digits), scale), scale), value)
    number = int(text)
    for kind in (INT, BIGINT):
        if number <= RANGES[kind.kind][1]:
            return constant(kind, number)
    return constant(decimal(len(text), 0), Decimal(number))


def negation(tree: exp.Neg, columns: Columns) -> Typed:
    """A number with its sign turned; a literal is read with its sign, so the least one fits."""
    arg = tree.this
    if isinstance(arg, exp.Literal) and not arg.is_string and arg.name.isdigit():
        for kind in (INT, BIGINT):
            if -int(arg.name) >= RANGES[kind.kind][0]:
                return constant(kind, -int(arg.name))
    return arithmetic.negative(compile_tree(arg, columns))


def function(tree: exp.Anonymous, columns: Columns) -> Typed:
    """A function call by the rule of its name."""
    name = str(tree.name).lower()
    if name in HIGHER_ORDER and any(isinstance(arg, exp.Lambda) for arg in tree.expressions):
        return HIGHER_ORDER[name](tree.expressions, columns, compile_tree)
    rule = FUNCTIONS.get(name)
    if rule is None:
        raise FlowError(
            f"the reference engine does not know the function {name}(); the spark engine runs it, "
            "but nothing defines what is right there"
        )
    args = tree.expressions
    if name == "position" and len(args) == 1 and isinstance(args[0], exp.In):
        args = [args[0].this, args[0].args["field"]]
    return call_rule(name, rule, [argument(arg, columns) for arg in args])


def argument(tree: exp.Expression, columns: Columns) -> Typed:
    """One argument of a function call."""
    return compile_tree(tree.this if isinstance(tree, exp.Alias) else tree, columns)


def casting(tree: exp.Cast, columns: Columns) -> Typed:
    """CAST, or TRY_CAST, which gives null for what does not fit."""
    arg, kind = compile_tree(tree.this, columns), read_type(tree.to)
    made = cast(arg, kind)
    if not tree.args.get("safe"):
        return Typed(made.type, made.of)
    return or_null(made)


def or_null(arg: Typed) -> Typed:
    """An expression that is null where it has no answer."""

    def of(scope: Scope) -> Any:
        try:
            return arg.of(scope)
        except SqlFault:
            return None

    return Typed(arg.type, of)


def case(tree: exp.Case, columns: Columns) -> Typed:
    """CASE with conditions, or with a value to compare."""
    subject = tree.args.get("this")
    cases = []
    for branch in tree.args["ifs"]:
        condition = compile_tree(branch.this, columns)
        if subject is not None:
            condition = operators.compare("=", compile_tree(subject, columns), condition)
        cases.append((condition, compile_tree(branch.args["true"], columns)))
    default = tree.args.get("default")
    return operators.choose(cases, compile_tree(default, columns) if default else NULL)


def if_else(tree: exp.If, columns: Columns) -> Typed:
    """IF(condition, then, else)."""
    condition, then = compile_tree(tree.this, columns), compile_tree(tree.args["true"], columns)
    other = tree.args.get("false")
    return operators.choose([(condition, then)], compile_tree(other, columns) if other else NULL)


def between(tree: exp.Between, columns: Columns) -> Typed:
    """BETWEEN, both ends included."""
    value, low, high = (compile_tree(tree.args[part], columns) for part in ("this", "low", "high"))
    return operators.both(operators.compare(">=", value, low), operators.compare("<=", value, high))


def membership(tree: exp.In, columns: Columns) -> Typed:
    """IN a list."""
    options = [compile_tree(option, columns) for option in tree.expressions]
    return operators.member(compile_tree(tree.this, columns), options)


def identity_test(tree: exp.Is, columns: Columns) -> Typed:
    """IS NULL, IS TRUE, IS FALSE."""
    arg = compile_tree(tree.this, columns)
    if isinstance(tree.expression, exp.Null):
        return operators.is_null(arg)
    wanted = tree.expression.this
    truth = cast(arg, BOOLEAN)
    return Typed(BOOLEAN, lambda scope: truth.of(scope) is wanted)


def interval(tree: exp.Interval, _: Columns) -> Typed:
    """An interval of fixed length."""
    unit = str(tree.args["unit"].name if tree.args.get("unit") else "").lower().rstrip("s")
    try:
        span = timedelta(seconds=SPANS[unit]) * float(tree.this.name)
    except (KeyError, ValueError, AttributeError):
        raise FlowError(
            f"the reference engine does not know {tree.sql('spark')!r}; it knows intervals in "
            f"{', '.join(SPANS)}"
        ) from None
    return constant(DAYS if unit in ("day", "week") else INTERVAL, span)


def pattern(tree: exp.Binary, columns: Columns, escape: str = "\\") -> Typed:
    """LIKE, ILIKE and RLIKE."""
    text, sought = compile_tree(tree.this, columns), compile_tree(tree.expression, columns)
    matcher = texts.MATCHERS[type(tree).__name__](escape)
    fits = strictly(BOOLEAN, [cast(text, STRING), cast(sought, STRING)], matcher)
    return operators.negate(fits) if tree.args.get("negate") else fits


def trim(tree: exp.Trim, columns: Columns) -> Typed:
    """TRIM, with what to trim off and where."""
    args = [compile_tree(tree.this, columns)]
    if tree.expression is not None:
        args.append(compile_tree(tree.expression, columns))
    sides = texts.TRIM_SIDES[str(tree.args.get("position") or "BOTH").upper()]
    return strictly(STRING, [cast(arg, STRING) for arg in args], texts.trimmer(sides))


def concat(tree: exp.Concat | exp.DPipe, columns: Columns) -> Typed:
    """Text, or arrays, end to end."""
    sides = tree.expressions or [tree.this, tree.expression]
    return call_rule("||", FUNCTIONS["concat"], [compile_tree(side, columns) for side in sides])


def sign_form(sign: str) -> Form:
    """An arithmetic operator."""
    return lambda tree, columns: arithmetic.compute(
        sign, compile_tree(tree.this, columns), compile_tree(tree.expression, columns)
    )


def comparison_form(sign: str) -> Form:
    """A comparison operator."""
    return lambda tree, columns: operators.compare(
        sign, compile_tree(tree.this, columns), compile_tree(tree.expression, columns)
    )


def pair_form(made: Callable[[Typed, Typed], Typed]) -> Form:
    """An operator with two sides."""
    return lambda tree, columns: made(
        compile_tree(tree.this, columns), compile_tree(tree.expression, columns)
    )


def one_form(made: Callable[[Typed], Typed]) -> Form:
    """An operator with one side."""
    return lambda tree, columns: made(compile_tree(tree.this, columns))


def named_form(name: str) -> Form:
    """An operator that is a function by another spelling."""
    return lambda tree, columns: FUNCTIONS[name](
        [compile_tree(tree.this, columns), compile_tree(tree.expression, columns)]
    )


NULL = constant(VOID, None)
FORMS: dict[type[exp.Expression], Form] = {
    exp.Column: column,
    exp.Identifier: lambda tree, columns: named(tree.name, columns),
    exp.Literal: literal,
    exp.RawString: lambda tree, _: constant(STRING, tree.name),
    exp.HexString: lambda tree, _: constant(BINARY, bytes.fromhex(tree.name)),
    exp.Boolean: lambda tree, _: constant(BOOLEAN, tree.this),
    exp.Null: lambda *_: NULL,
    exp.Paren: one_form(lambda arg: arg),
    exp.Anonymous: function,
    exp.Cast: casting,
    exp.TryCast: casting,
    exp.Case: case,
    exp.If: if_else,
    exp.Between: between,
    exp.In: membership,
    exp.Is: identity_test,
    exp.And: pair_form(operators.both),
    exp.Or: pair_form(operators.either),
    exp.Not: one_form(operators.negate),
    exp.Neg: negation,
    exp.Add: sign_form("+"),
    exp.Sub: sign_form("-"),
    exp.Mul: sign_form("*"),
    exp.Div: sign_form("/"),
    exp.Mod: sign_form("%"),
    exp.IntDiv: sign_form("div"),
    exp.EQ: comparison_form("="),
    exp.NEQ: comparison_form("<>"),
    exp.LT: comparison_form("<"),
    exp.LTE: comparison_form("<="),
    exp.GT: comparison_form(">"),
    exp.GTE: comparison_form(">="),
    exp.NullSafeEQ: pair_form(operators.same_or_both_null),
    exp.NullSafeNEQ: pair_form(lambda a, b: operators.negate(operators.same_or_both_null(a, b))),
    exp.BitwiseNot: one_form(lambda arg: FUNCTIONS["bitnot"]([arg])),
    exp.BitwiseLeftShift: named_form("shiftleft"),
    exp.BitwiseRightShift: named_form("shiftright"),
    exp.BitwiseAnd: named_form("bitand"),
    exp.BitwiseOr: named_form("bitor"),
    exp.BitwiseXor: named_form("bitxor"),
    exp.Like: pattern,
    exp.ILike: pattern,
    exp.RegexpLike: pattern,
    exp.Escape: lambda tree, columns: pattern(tree.this, columns, tree.expression.name),
    exp.Trim: trim,
    exp.DPipe: concat,
    exp.Concat: concat,
    exp.Interval: interval,
    exp.Array: lambda tree, columns: make_array(
        [compile_tree(item, columns) for item in tree.expressions]
    ),
    exp.Bracket: lambda tree, columns: access_item(
        compile_tree(tree.this, columns), compile_tree(tree.expressions[0], columns)
    ),
    exp.Dot: lambda tree, columns: access_field(
        compile_tree(tree.this, columns), tree.expression.name
    ),
    exp.Extract: lambda tree, columns: call_rule(
        "extract",
        FUNCTIONS["date_part"],
        [constant(STRING, tree.name), compile_tree(tree.expression, columns)],
    ),
    exp.Transform: lambda tree, columns: HIGHER_ORDER["transform"](
        [tree.this, tree.expression], columns, compile_tree
    ),
}

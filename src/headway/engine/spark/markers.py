"""SQL that lets marker rows through: a marker is no record, so no user's expression may see it."""

from __future__ import annotations

from sqlglot import exp

from headway.engine.spark.gate.columns import SEQ
from headway.flow.expression import Expression
from headway.flow.sql import GENERATORS, function_name

IS_RECORD = f"{SEQ} >= 0"


def guard_filter(where: Expression) -> str:
    """A condition that every marker fulfils and that judges records alone."""
    return f"CASE WHEN {IS_RECORD} THEN ({where.text}) ELSE TRUE END"


def guard_select(select: Expression) -> str:
    """An expression that is null for a marker; a generator makes one row of it.

    >>> from headway.flow.sql import parse_expression
    >>> guard_select(parse_expression("size + 1 AS next"))
    'CASE WHEN __seq >= 0 THEN (size + 1) END AS next'
    >>> guard_select(parse_expression("explode(split(text, ' ')) AS word"))
    "EXPLODE(CASE WHEN __seq >= 0 THEN SPLIT(text, ' ') ELSE ARRAY(NULL) END) AS word"
    """
    if select.is_star:
        return select.text
    tree = select.tree()
    if not select.generator:
        return f"CASE WHEN {IS_RECORD} THEN ({tree.sql('spark')}) END AS {select.name}"
    for node in list(tree.find_all(exp.Func)):
        if function_name(node) in GENERATORS:
            guarded = exp.case().when(IS_RECORD, node.this.copy()).else_("ARRAY(NULL)")
            node.this.replace(guarded)
    return f"{tree.sql('spark')} AS {select.name}"

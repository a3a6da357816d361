"""Values as they are printed: for people on a terminal, exact in a final answer, and as JSON."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa

from headway.cli.asking.stable import Number
from headway.early.relation import Step


def exact_text(value: Any) -> str:
    """A value with all that is known of it.

    >>> exact_text(Decimal("0.10")), exact_text(None), exact_text(2.5)
    ('0.10', 'NULL', '2.5')
    """
    if value is None:
        return "NULL"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.hex() if isinstance(value, bytes) else str(value)


def short_text(value: Any) -> str:
    """A value as one takes it in while it changes.

    >>> short_text(25.522005853257337), short_text(0.000123456), short_text(17)
    ('25.522', '0.0001235', '17')
    """
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1 else f"{value:.3f}"
    return exact_text(value)


def change_text(old: Number | None, new: Number | None) -> str:
    """How a number changed, as a share of what it was.

    >>> change_text(50, 52), change_text(3, 3), change_text(0, 3), change_text(None, 3)
    ('+4.0%', '=', 'was 0', 'was NULL')
    """
    if old == new:
        return "="
    if not old:
        return f"was {exact_text(old)}"
    if new is None:
        return f"was {short_text(old)}"
    return f"{(float(new) - float(old)) / abs(float(old)):+.1%}"


def json_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows as JSON has them: decimals are numbers with all their digits."""
    names = distinct_names(table.column_names)
    columns = [[json_value(value) for value in column.to_pylist()] for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def json_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(f"{value:f}")
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    if isinstance(value, dict):
        return {name: json_value(one) for name, one in value.items()}
    return value


def json_line(facts: dict[str, Any]) -> str:
    """Facts as one line of JSON; what JSON has no word for is written as text."""
    return orjson.dumps(facts, default=exact_text).decode()


def distinct_names(names: list[str]) -> list[str]:
    """Names of columns with a number behind those that were there before.

    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    found: list[str] = []
    for name in names:
        number, chosen = 1, name
        while chosen in found:
            number += 1
            chosen = f"{name}_{number}"
        found.append(chosen)
    return found


def step_text(step: Step) -> str:
    """Which rule computes each operator and why, as a tree.

    >>> print(step_text(Step("filter", "as it is", "keeps intervals", (Step("scan", "a", "b"),))))
    filter: as it is, keeps intervals
    └─ scan: a, b
    """
    lines = [f"{step.operator}: {step.rule}" + (f", {step.because}" if step.because else "")]
    for n, under in enumerate(step.under):
        last = n == len(step.under) - 1
        first, *rest = step_text(under).splitlines()
        lines.append(("└─ " if last else "├─ ") + first)
        lines += [("   " if last else "│  ") + line for line in rest]
    return "\n".join(lines)


def step_facts(step: Step) -> dict[str, Any]:
    """The same tree as JSON has it."""
    return {
        "operator": step.operator,
        "rule": step.rule,
        "because": step.because,
        "under": [step_facts(under) for under in step.under],
    }

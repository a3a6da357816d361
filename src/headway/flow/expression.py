"""An SQL expression as plain data.

It stands apart from the reading of SQL since Spark's Python processes import it, and read none: the
library for that is a fifth of what they would load at their start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


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
        from headway.flow.sql import without_alias

        return without_alias(self.text)
